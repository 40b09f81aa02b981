"""The result as a page of Markdown: figures, what was missed, and what was answered wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from cognigraph.evaluate.aggregate import by_category
from cognigraph.evaluate.formats import FORMATS
from cognigraph.text.terms import printable, storable

Record = Mapping[str, Any]


def figures(result: Mapping[str, Any]) -> str:
    """What a result says in figures."""
    benchmark, settings = FORMATS[result["benchmark"]], result["settings"]
    lines = [
        f"# {benchmark.title}: {_text(result['file'])}",
        "",
        f"cognigraph {settings['cognigraph']}, ranking {settings['ranking']}, extractor "
        f"{_text(settings['extractor'])}, embedder {_text(settings['embedder'])}"
        + ("" if result["complete"] else "; not finished: these are the figures so far"),
        *_run(result),
        *_found(result, benchmark.level),
        *_answered(result),
        *_compared(result["compared"]),
    ]
    return "\n".join(lines) + "\n"


def render(result: Mapping[str, Any], questions: Sequence[Record]) -> str:
    """Render the page of a result and the records of its questions."""
    level = FORMATS[result["benchmark"]].level
    failed = [record for record in questions if "failure" in record]
    lines = [
        figures(result),
        "## What was found otherwise",
        "",
        "recall: share of a question's evidence among the first k; any: some of it is there; all: "
        "all of it is. Means over the questions that name evidence.",
        *_found_otherwise(result, level),
        *_missed(failed, result, level),
        *_wrong(questions),
    ]
    return "\n".join(lines) + "\n"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _text(value: object) -> str:
    """A text on one line that is no markup of Markdown's tables or of HTML."""
    line = " ".join(printable(storable(str(value))).split())
    return escape(line, quote=False).replace("|", "\\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _run(result: Mapping[str, Any]) -> Iterator[str]:
    insert = result["insert"]
    read = f"then read in {insert['enrich_seconds']:,} s into {insert['triples']:,} triples"
    if result["settings"]["extractor"] == "none":
        read = "not read for facts (extractor none)"
    yield ""
    yield f"- SHA-256 {result['sha256']}"
    yield (
        f"- {_counted(result['conversations'], 'conversation')}, "
        f"{_counted(insert['turns'], 'turn')}, {_counted(result['questions'], 'question')}"
    )
    yield f"- {insert['turns_per_second'] or '–'} turns/s, {read}"
    for name, unit in (("search_ms", " ms a search"), ("context_tokens", " tokens of context")):
        if found := result[name]:
            yield f"- {found['p50']:,.0f} / {found['p95']:,.0f}{unit}, p50 / p95"
    for stage, usage in result["usage"].items():
        if usage["calls"] or usage["cached"]:
            tokens = f"{usage['input_tokens']:,} + {usage['output_tokens']:,} tokens"
            yield f"- model, {stage}: {usage['calls']:,} calls, {tokens}, cost {usage['cost']:.4f}"
    for note, count in insert["notes"].items():
        yield f"- in the file: {note}: {count:,}"


def _found(result: Mapping[str, Any], level: str) -> Iterator[str]:
    if at_k := result["recall"][level]:
        k = list(at_k)[-1]
        yield from _at(level, k, at_k[k])


def _found_otherwise(result: Mapping[str, Any], headline: str) -> Iterator[str]:
    """The same on the other level, and for smaller k."""
    for level in sorted(result["recall"], key=lambda level: level != headline):
        tables = list(result["recall"][level].items())[::-1]
        for k, scores in tables[level == headline :]:
            yield from _at(level, k, scores)


def _at(level: str, k: str, scores: Mapping[str, Any]) -> list[str]:
    named = [("all questions", scores["all"]), *scores["by_category"].items()]
    if "no_adversarial" in scores:
        named.insert(1, ("without adversarial", scores["no_adversarial"]))
    head = [f"{level}s, k = {k}", "questions", "recall", "95 %", "any", "all", "nDCG"]
    return ["", *_table(head, (_scores(*entry) for entry in named))]


def _scores(name: str, values: Mapping[str, Any]) -> list[str]:
    low, high = values.get("recall_interval", (None, None))
    shares = (f"{values[key]:.3f}" for key in ("recall_any", "recall_all", "ndcg"))
    interval = "" if low is None else f"{low:.3f} to {high:.3f}"
    return [_text(name), f"{values['questions']:,}", f"{values['recall']:.3f}", interval, *shares]


def _answered(result: Mapping[str, Any]) -> Iterator[str]:
    answers = result.get("qa")
    if not answers:
        return
    accuracy = answers["accuracy"]
    named = [("all questions", accuracy["all"]), *accuracy["by_category"].items()]
    for key, name in (
        ("no_adversarial", "without adversarial"), ("abstention", "of these: nothing answers"),
    ):  # fmt: skip
        if key in accuracy:
            named.append((name, accuracy[key]))
    yield from ("", "## What was answered", "")
    yield f"Answers by {_text(answers['model'])}, judged by {_text(answers['judge'])}."
    again = "run the same command again to continue"
    if answers["failed"]:
        yield f"{_counted(answers['failed'], 'question')} failed and are not counted; {again}."
    if answers["not_asked"]:
        stopped = f": {_text(answers['stopped'])}" if answers["stopped"] else ""
        yield f"{_counted(answers['not_asked'], 'question')} were not asked yet; {again}{stopped}"
    rows = (
        [_text(name), f"{share['judged']:,}", f"{share['right']:,}", _share(share["accuracy"])]
        for name, share in named
    )
    yield from ("", *_table(["", "judged", "right", "accuracy"], rows))


def _compared(ways: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Strategies side by side: accuracy, and what an answer costs."""
    if len(ways) < 2 and not any(way["rounds"] for way in ways):
        return
    rows = (
        [
            way["strategy"],
            f"{way['judged']:,}",
            _share(way["accuracy"]),
            f"{way['tokens']:,.0f}",
            f"{way['calls']:.2f}",
            "–" if way["rounds"] is None else f"{way['rounds']:.2f}",
            f"{way['cost']:.5f}",
            f"{way['seconds']:.1f}",
        ]
        for way in ways
    )
    head = ["strategy", "judged", "accuracy", "tokens", "calls", "rounds", "cost", "s"]
    yield from ("", *_table(head, rows))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _missed(failed: Sequence[Record], result: Mapping[str, Any], level: str) -> Iterator[str]:
    yield from ("", f"## What was missed ({len(failed):,})", "")
    if not failed:
        yield "Nothing: all evidence of all questions was found."
        return
    most = max(result["settings"]["cutoffs"])
    yield f"Questions whose evidence is not all among the first {most} {level}s."
    for category, records in by_category(failed).items():
        yield from ("", f"### {_text(category)} ({len(records):,})", "")
        for record in records:
            yield from _failure(record)


def _failure(record: Record) -> Iterator[str]:
    failure = record["failure"]
    yield (
        f"- {_text(record['question'])} ({_text(record['id'])}; expected: "
        f"{_text(record['answer'])}; asked {record['asked_at'][:10]})"
    )
    for message in failure["missing"]:
        rank = f"rank {message['rank']}" if message["rank"] else (
            f"not among the first {failure['searched_to']}"
        )  # fmt: skip
        yield f"    - missing, {rank}: {_message(message)}"
    if failure["more_missing"]:
        yield f"    - and {failure['more_missing']:,} more"
    for message in failure["instead"]:
        why = _text(message["why"])
        yield f"    - instead, rank {message['rank']}: {_message(message)} ({why})"


def _message(message: Record) -> str:
    at = str(message["at"])[:16].replace("T", " ")
    said = f"{message['speaker'] or '?'}: {message['text']}"
    return f"{_text(message['id'])}, {at}, {_text(said)}"


def _wrong(questions: Sequence[Record]) -> Iterator[str]:
    wrong = [q for q in questions if (q.get("qa") or {}).get("right") is False]
    if not wrong:
        return
    yield from ("", f"## Answers judged wrong ({len(wrong):,})", "")
    for record in wrong:
        answer = record["qa"]
        yield (
            f"- {_text(record['question'])} ({_text(record['id'])}; expected: "
            f"{_text(record['answer'])}; answered: {_text(answer['answer'])}; judge: "
            f"{_text(answer['reason'])})"
        )
