"""The result as one HTML page: no script, no network, every text escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from cognigraph.evaluate.aggregate import by_category
from cognigraph.evaluate.formats import FORMATS
from cognigraph.text.terms import printable, storable

Record = Mapping[str, Any]

_HEADINGS = {
    "questions": "questions", "recall": "recall", "recall_any": "any", "recall_all": "all",
    "ndcg": "nDCG",
}  # fmt: skip


def render(result: Mapping[str, Any], questions: Sequence[Record]) -> str:
    """Render the page of a result and the records of its questions."""
    benchmark = FORMATS[result["benchmark"]]
    title, level = f"{benchmark.title}: {result['file']}", benchmark.level
    failed = [record for record in questions if "failure" in record]
    parts = [
        f"<h1>{_text(title)}</h1>",
        f"<p class=dim>{_text(_subtitle(result))}</p>",
        _tiles(result, level),
        *_retrieval(result, level),
        *_answers(result),
        _facts(result),
        *_failures(failed, result, level),
        *_wrong_answers(questions),
        *_prompts(result),
    ]
    template = Template(files("cognigraph.evaluate").joinpath("page.html").read_text("utf-8"))
    return template.substitute(title=_text(title), body="\n".join(part for part in parts if part))


def _text(value: object) -> str:
    return escape(printable(storable(str(value))))


def _subtitle(result: Mapping[str, Any]) -> str:
    settings = result["settings"]
    return (
        f"cognigraph {settings['cognigraph']}, ranking {settings['ranking']}, "
        f"extractor {settings['extractor']}, embedder {settings['embedder']}"
        + ("" if result["complete"] else "; not finished: these are the figures so far")
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _percentiles(found: Mapping[str, float] | None, unit: str) -> str:
    if not found:
        return "–"
    digits = 1 if found["p95"] < 100 else 0
    return f"{found['p50']:,.{digits}f} / {found['p95']:,.{digits}f}{unit}"


def _tiles(result: Mapping[str, Any], level: str) -> str:
    tiles = []
    if at_k := result["recall"][level]:
        k, scores = list(at_k.items())[-1]
        tiles.append(_recall_tile(f"{level} recall@{k}, all questions", scores["all"]))
        if "no_adversarial" in scores:
            tiles.append(_recall_tile("the same without adversarial", scores["no_adversarial"]))
    if answers := result.get("qa"):
        tiles.append(("answers judged right", _share(answers["accuracy"]["all"]["accuracy"]), ""))
    milliseconds, tokens = result["search_ms"], result["context_tokens"]
    tiles.append(("search, p50 / p95", _percentiles(milliseconds, " ms"), ""))
    tiles.append(("context tokens, p50 / p95", _percentiles(tokens, ""), ""))
    shown = [
        f"<div class=tile>{_text(name)}<b>{_text(value)}</b><span class=dim>{_text(note)}</span>"
        "</div>"
        for name, value, note in tiles
    ]
    return f"<div class=tiles>{''.join(shown)}</div>"


def _recall_tile(name: str, scores: Mapping[str, Any]) -> tuple[str, str, str]:
    low, high = scores["recall_interval"]
    return name, f"{scores['recall']:.3f}", f"95 % interval {low:.3f} to {high:.3f}"


def _table(headings: Sequence[str], rows: Iterable[tuple[Sequence[str], bool]]) -> str:
    head = "".join(f"<th>{_text(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr{' class=total' if total else ''}>"
        + "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells, total in rows
    )
    return f"<div class=scroll><table><tr>{head}</tr>{body}</table></div>"


def _retrieval(result: Mapping[str, Any], headline: str) -> Iterable[str]:
    yield "<h2>What was found</h2>"
    yield (
        "<p class=dim>recall: share of a question's evidence among the first k; any: some of it "
        "is there; all: all of it is. Means over the questions that name evidence.</p>"
    )
    for level in sorted(result["recall"], key=lambda level: level != headline):
        for k, scores in reversed(result["recall"][level].items()):
            opened = level == headline and k == list(result["recall"][level])[-1]
            rows = [(_row("all questions", scores["all"]), True)]
            if "no_adversarial" in scores:
                rows.append((_row("without adversarial", scores["no_adversarial"]), True))
            rows += [(_row(name, values), False) for name, values in scores["by_category"].items()]
            table = _table(["category", *_HEADINGS.values()], rows)
            yield _details(f"{level}s, k = {k}", table, opened)


def _details(summary: str, body: str, opened: bool = False, tag: str = "") -> str:
    """Render a collapsible section; ``body`` is HTML, the other arguments are text."""
    tagged = f"<span class=tag>{_text(tag)}</span>" if tag else ""
    start = "<details open>" if opened else "<details>"
    return f"{start}<summary>{_text(summary)}{tagged}</summary><div>{body}</div></details>"


def _row(name: str, values: Mapping[str, Any]) -> list[str]:
    cells = [name]
    for key in _HEADINGS:
        cells.append(f"{values[key]:,}" if key == "questions" else f"{values[key]:.3f}")
    return cells


def _answers(result: Mapping[str, Any]) -> Iterable[str]:
    answers = result.get("qa")
    if not answers:
        return
    yield "<h2>What was answered</h2>"
    credit = "count" if answers["credit_adversarial"] else "are not asked and give no credit"
    adversarial = f"; adversarial questions {credit}" if result["benchmark"] == "locomo" else ""
    failed = f"; {answers['failed']} calls failed and are not counted" if answers["failed"] else ""
    if answers["not_asked"]:
        failed += f"; {answers['not_asked']} not asked yet: {_text(answers['stopped'])}"
    yield (
        f"<p class=dim>answers by {_text(answers['model'])}, judged by "
        f"{_text(answers['judge'])}{adversarial}{failed}.</p>"
    )
    accuracy = answers["accuracy"]
    rows = [(_answer_row("all questions", accuracy["all"]), True)]
    if "no_adversarial" in accuracy:
        rows.append((_answer_row("without adversarial", accuracy["no_adversarial"]), True))
    rows += [(_answer_row(*entry), False) for entry in accuracy["by_category"].items()]
    if "abstention" in accuracy:
        rows.append((_answer_row("of these: nothing answers", accuracy["abstention"]), False))
    yield _table(["category", "judged", "right", "accuracy"], rows)


def _answer_row(name: str, values: Mapping[str, Any]) -> list[str]:
    return [name, f"{values['judged']:,}", f"{values['right']:,}", _share(values["accuracy"])]


def _facts(result: Mapping[str, Any]) -> str:
    insert = result["insert"]
    read = f"then read in {insert['enrich_seconds']:,} s into {insert['triples']:,} triples"
    if result["settings"]["extractor"] == "none":
        read = "not read for facts (extractor none)"
    facts: list[tuple[str, object]] = [
        ("file", f"{result['file']}, SHA-256 {result['sha256']}"),
        ("size", f"{result['conversations']:,} conversations, {insert['turns']:,} turns, "
                 f"{result['questions']:,} questions"),
        ("insert", f"{insert['turns_per_second'] or '–'} turns/s, {read}"),
    ]  # fmt: skip
    for stage, usage in result["usage"].items():
        if usage["calls"] or usage["cached"]:
            tokens = f"{usage['input_tokens']:,} + {usage['output_tokens']:,} tokens"
            cost = f", cost {usage['cost']:.4f}" if usage["cost"] else ""
            facts.append((f"model, {stage}", f"{usage['calls']:,} calls, {tokens}{cost}"))
    facts += [("in the file", f"{note}: {count:,}") for note, count in insert["notes"].items()]
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in facts)
    return f"<h2>The run</h2><dl>{rows}</dl>"


def _failures(failed: Sequence[Record], result: Mapping[str, Any], level: str) -> Iterable[str]:
    yield f"<h2>What was missed ({len(failed):,})</h2>"
    if not failed:
        yield "<p>Nothing: all evidence of all questions was found.</p>"
        return
    most = max(result["settings"]["cutoffs"])
    yield (
        f"<p class=dim>Questions whose evidence is not all among the first {most} {level}s: what "
        "was expected, and what was returned instead.</p>"
    )
    for category, records in by_category(failed, lambda record: str(record["category"])).items():
        yield f"<h3>{_text(category)} ({len(records):,})</h3>"
        yield from (_failure(record) for record in records)


def _failure(record: Record) -> str:
    failure = record["failure"]
    missing = "".join(_missing(message, failure) for message in failure["missing"])
    if failure["more_missing"]:
        missing += f"<p class=dim>and {failure['more_missing']:,} more</p>"
    instead = "".join(
        _message(
            "instead",
            message,
            f"rank {message['rank']}",
            f"<p class=why>{_text(message['why'])}</p>",
        )
        for message in failure["instead"]
    )
    about = f"expected answer: {record['answer']}; asked {record['asked_at'][:10]}"
    body = (
        f"<p class=dim>{_text(about)}</p><h3>Expected</h3>{missing}<h3>Found instead</h3>{instead}"
    )
    return _details(record["question"], body, tag=record["id"])


def _missing(message: Record, failure: Record) -> str:
    rank = f"rank {message['rank']}" if message["rank"] else (
        f"not among the first {failure['searched_to']}"
    )  # fmt: skip
    return _message("missing", message, rank, "")


def _message(kind: str, message: Record, rank: str, more: str) -> str:
    about = f"{message['id']}, {str(message['at'])[:16].replace('T', ' ')}, {rank}"
    return (
        f"<div class='message {kind}'><span class=dim>{_text(about)}</span>"
        f"<p>{_text(message['speaker'] or '?')}: {_text(message['text'])}</p>{more}</div>"
    )


def _wrong_answers(questions: Sequence[Record]) -> Iterable[str]:
    wrong = [q for q in questions if (q.get("qa") or {}).get("right") is False]
    if not wrong:
        return
    yield f"<h2>Answers judged wrong ({len(wrong):,})</h2>"
    for record in wrong:
        answer = record["qa"]
        told = {
            "expected": record["answer"],
            "answered": answer["answer"],
            "judge": answer["reason"],
        }
        rows = "".join(
            f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>" for name, text in told.items()
        )
        yield _details(record["question"], f"<dl>{rows}</dl>", tag=record["id"])


def _prompts(result: Mapping[str, Any]) -> Iterable[str]:
    if answers := result.get("qa"):
        yield "<h2>Prompts</h2>"
        for name, text in answers["prompts"].items():
            yield _details(name, f"<pre>{_text(text)}</pre>")
