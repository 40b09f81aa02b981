"""The result as a page of Markdown: figures, what was missed, and what was answered wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from cognigraph.evaluate.aggregate import by_category
from cognigraph.evaluate.formats import FORMATS
from cognigraph.text.terms import printable, storable

Record = Mapping[str, Any]


def render(result: Mapping[str, Any], questions: Sequence[Record]) -> str:
    """Render the page of a result and the records of its questions."""
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
        *_missed([record for record in questions if "failure" in record], result, benchmark.level),
        *_wrong(questions),
    ]
    return "\n".join(lines) + "\n"


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
        f"- {result['conversations']:,} conversations, {insert['turns']:,} turns, "
        f"{result['questions']:,} questions"
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


def _found(result: Mapping[str, Any], headline: str) -> Iterator[str]:
    yield from (
        "",
        "## What was found",
        "",
        "recall: share of a question's evidence among the first k; any: some of it is there; all: "
        "all of it is. Means over the questions that name evidence, with the 95 % interval.",
    )
    for level in sorted(result["recall"], key=lambda level: level != headline):
        for k, scores in reversed(result["recall"][level].items()):
            named = [("all questions", scores["all"]), *scores["by_category"].items()]
            if "no_adversarial" in scores:
                named.insert(1, ("without adversarial", scores["no_adversarial"]))
            head = [f"{level}s, k = {k}", "questions", "recall", "", "any", "all", "nDCG"]
            yield from ("", *_table(head, (_scores(*entry) for entry in named)))


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
    if answers["failed"]:
        yield f"{answers['failed']} calls failed and are not counted."
    if answers["not_asked"]:
        yield f"{answers['not_asked']} were not asked yet: {_text(answers['stopped'])}"
    rows = (
        [_text(name), f"{share['judged']:,}", f"{share['right']:,}", _share(share["accuracy"])]
        for name, share in named
    )
    yield from ("", *_table(["", "judged", "right", "accuracy"], rows))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _missed(failed: Sequence[Record], result: Mapping[str, Any], level: str) -> Iterator[str]:
    yield from ("", f"## What was missed ({len(failed):,})", "")
    if not failed:
        yield "Nothing: all evidence of all questions was found."
        return
    most = max(result["settings"]["cutoffs"])
    yield f"Questions whose evidence is not all among the first {most} {level}s."
    for category, records in by_category(failed, lambda record: str(record["category"])).items():
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
