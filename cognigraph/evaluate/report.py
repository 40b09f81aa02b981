"""Write the result of an evaluation: ``result.json`` for programs, ``page.md`` for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognigraph.evaluate import page
from cognigraph.evaluate.evaluation import Evaluation
from cognigraph.evaluate.loops import compared
from cognigraph.evaluate.qa import QuestionAnswering


@dataclass(frozen=True, slots=True)
class Report:
    """A result and the files it was written to."""

    result: Mapping[str, Any]
    json: Path
    page: Path


def write(evaluation: Evaluation, *answering: QuestionAnswering) -> Report:
    """Write the result of the last :meth:`Evaluation.run`; each file is replaced atomically.

    The result is complete unless the answers to some questions have not been judged. Several
    ways of ``answering`` are compared; the first one is shown in detail.
    """
    result, records = evaluation.result(), evaluation.records()
    result["qa"], result["complete"] = None, True
    result["compared"] = []
    if answering:
        results = [item.result() for item in answering]
        result["compared"] = [compared(item) for item in results]
        qa = results[0]
        result["usage"] |= qa.pop("usage")
        complete = not any(item["failed"] or item["not_asked"] for item in results)
        result |= {"qa": qa, "complete": complete}
        answers = answering[0].records()
        records = [record | {"qa": answers.get(record["id"])} for record in records]
    folder = evaluation.folder
    document = json.dumps(result, indent=2, allow_nan=False) + "\n"
    _replace(folder / "result.json", document)
    _replace(folder / "page.md", page.render(result, records))
    return Report(result, folder / "result.json", folder / "page.md")


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, "utf-8")
    new.replace(path)
