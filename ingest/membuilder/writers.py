"""The writers: each reads new turns beside what it keeps, and returns what it changes.

That of episodes is in :mod:`.episodes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cognigraph.errors import ModelError
from cognigraph.ids import normalise, uid
from cognigraph.ingest.extraction import Fact, Mention
from cognigraph.ingest.membuilder.actions import (
    Action,
    Writer,
    WriterCall,
    check_core,
    valid_actions,
)
from cognigraph.ingest.model.parse_lines import FactLine
from cognigraph.ingest.model.transcript import Turn, numbered
from cognigraph.llm import Model, Prompt
from cognigraph.llm.prompts import PromptFile, prompt_file, render
from cognigraph.model import Theme, Triple, Usage, Written
from cognigraph.model.graph import newest_written
from cognigraph.states.core_profile import (
    COMPRESSED,
    LIMIT,
    CoreOperation,
    RefusedOperation,
    applied,
    is_too_long,
)
from cognigraph.stores.records import WrittenRow
from cognigraph.text.marks import one_line

if TYPE_CHECKING:
    from pydantic import BaseModel

    from cognigraph.ingest.membuilder.answer_schema import CoreAnswer

PROMPTS: Mapping[Writer, str] = {
    "core": "core-1",
    "episodic": "episodic-2",
    "semantic": "semantic-2",
    "procedural": "procedural-1",
}
_KEPT: Mapping[Writer, str] = {
    "episodic": "episodes",
    "semantic": "facts",
    "procedural": "procedures",
}
"""The input of a prompt that holds what the writer keeps."""
COMPRESS = "compress-1"
_PACKAGE = "cognigraph.ingest.membuilder.prompts"
PROFILE = "profile"
"""The chain of the core profile of a space."""
LATER = "a fact that was said later is not updated"
MOST_LISTED = 60
"""Largest number of procedures that a prompt lists."""

_T = TypeVar("_T", bound="BaseModel")


def writer_prompt(id: str) -> PromptFile:
    """A prompt of the writers by its name and version."""
    return prompt_file(id, _PACKAGE)


@dataclass(slots=True)
class WriterRun:
    """One run of a writer over a window: whom it asks, and what came of it.

    With an ``error`` it has made nothing. ``refused`` says what was not valid.
    """

    model: Model
    space: str
    session: str
    turns: Sequence[Turn] = ()
    usage: Usage = field(default_factory=Usage)
    refused: list[str] = field(default_factory=list)
    calls: list[WriterCall] = field(default_factory=list)
    written: Sequence[WrittenRow] = ()
    episodes: tuple[Theme, ...] | None = None
    facts: tuple[Fact, ...] = ()
    mentions: tuple[Mention, ...] = ()
    error: ModelError | None = None

    def ask(self, prompt: Prompt, schema: type[_T]) -> _T:
        """Ask the model.

        Raises:
            ModelError: it failed.
        """
        try:
            answer = self.model.ask(prompt, schema)
        except ModelError as error:
            self.usage += error.usage
            raise
        self.usage += answer.usage
        return answer.value

    def operations(
        self, writer: Writer, lines: Mapping[str, str], turns: Sequence[Turn]
    ) -> list[Action]:
        """Ask a writer of entries that keeps these lines; returns its valid operations.

        Raises:
            ModelError: it failed.
        """
        from cognigraph.ingest.membuilder.answer_schema import EntriesAnswer

        prompt = entries_prompt(writer, lines, turns)
        answer = self.ask(prompt, EntriesAnswer)
        actions, refused = valid_actions(writer, answer.operations, lines, len(turns))
        self.keep(writer, prompt, answer, refused, dict(lines))
        return actions

    def keep(
        self, writer: Writer, prompt: Prompt, answer: BaseModel, refused: Sequence[str], before: Any
    ) -> None:
        """Note the call with what the writer kept ``before`` it, and what was not valid."""
        self.refused += refused
        uids = [turn.uid for turn in self.turns]
        self.calls.append(
            WriterCall(
                writer, prompt.version, self.space, self.session, prompt.system, prompt.user,
                answer.model_dump(mode="json", exclude_defaults=True), tuple(refused),
                uid("Window", self.space, *uids), max(turn.at for turn in self.turns).isoformat(),
                before, len(self.turns),
            )
        )  # fmt: skip


def entries_prompt(writer: Writer, lines: Mapping[str, str], turns: Sequence[Turn]) -> Prompt:
    """What a writer of entries is asked that keeps these lines, by label."""
    kept = "\n".join(f"{label}. {line}" for label, line in lines.items()) or "-"
    return render(writer_prompt(PROMPTS[writer]), turns=numbered(turns), **{_KEPT[writer]: kept})


# --- Core profile ---------------------------------------------------------------------------


def core_prompt(profile: str, turns: Sequence[Turn]) -> Prompt:
    """What the writer of the core profile is asked."""
    lines = "\n".join(one_line(line) for line in profile.splitlines()) or "-"
    fill = str(round(100 * len(profile) / LIMIT))
    return render(writer_prompt(PROMPTS["core"]), fill=fill, profile=lines, turns=numbered(turns))


def write_core(
    run: WriterRun, written: Sequence[Written], turns: Sequence[Turn]
) -> list[WrittenRow]:
    """The next version of the core profile, if the turns change it."""
    from cognigraph.ingest.membuilder.answer_schema import CoreAnswer

    known = next(iter(newest_written(written, "profile")), None)
    text, version = (known.text, known.version) if known is not None else ("", 0)
    prompt = core_prompt(text, turns)
    answer = run.ask(prompt, CoreAnswer)
    problem = check_core(answer)
    if problem or answer.operation == "NONE":
        why = [f"{problem}: core {answer.operation}"] if problem else []
        run.keep("core", prompt, answer, why, text)
        return []
    operation = core_operation(answer)
    try:
        new = _compressed(run, applied(text, operation))
    except RefusedOperation as refusal:
        run.keep("core", prompt, answer, [f"core {operation.action} {refusal}"], text)
        return []
    run.keep("core", prompt, answer, [], text)
    chunks = tuple(turn.uid for turn in turns if turn.uid)
    if new == text:
        return []
    return [WrittenRow("profile", PROFILE, version, new, chunks, operation=operation)]


def core_operation(answer: CoreAnswer) -> CoreOperation:
    """The change of the profile that an answer stands for."""
    content = "\n".join(" ".join(line.split()) for line in answer.content.splitlines())
    if answer.operation == "REPLACE":
        return CoreOperation("REPLACE", content.strip(), answer.old)
    if answer.operation == "APPEND":
        return CoreOperation("APPEND", content.strip())
    return CoreOperation("REWRITE", content.strip())


def _compressed(run: WriterRun, text: str) -> str:
    """The text, compressed by the model in at most two passes if it is too long.

    Raises:
        RefusedOperation: it is still too long.
    """
    from cognigraph.ingest.membuilder.answer_schema import CompressedAnswer

    for limit in (COMPRESSED, COMPRESSED // 2):
        if not is_too_long(text):
            return text
        prompt = render(
            writer_prompt(COMPRESS), limit=str(limit),
            profile="\n".join(one_line(line) for line in text.splitlines()),
        )  # fmt: skip
        shorter = run.ask(prompt, CompressedAnswer).content.strip()
        text = shorter if shorter and len(shorter) < len(text) else text
    if is_too_long(text):
        raise RefusedOperation(f"leaves {len(text)} characters after two compressions")
    return text


# --- Facts ----------------------------------------------------------------------------------


def fact_lines(facts: Sequence[Triple]) -> dict[str, str]:
    """Facts by label, each as its writer is shown it."""
    return {
        f"F{number}": f"{one_line(fact.text)}{f' ({fact.when})' if fact.when else ''}"
        for number, fact in enumerate(facts, 1)
    }


def write_facts(run: WriterRun, facts: Sequence[Triple], turns: Sequence[Turn]) -> list[FactLine]:
    """New facts. One that updates another names it, unless that was said later."""
    lines = fact_lines(facts)
    actions = run.operations("semantic", lines, turns)
    run.refused += (f"skipped: {action.text}" for action in actions if action.action == "SKIP")
    known = dict(zip(lines, facts, strict=True))
    return [
        _updating(run, action, [known[target] for target in action.targets], turns)
        for action in actions
        if action.fact is not None
    ]


def _updating(
    run: WriterRun, action: Action, targets: Sequence[Triple], turns: Sequence[Turn]
) -> FactLine:
    assert action.fact is not None
    cited = tuple(index + 1 for index in action.turns)
    said = max(turns[index].at for index in action.turns)
    earlier = [target for target in targets if target.last_observed <= said]
    run.refused += (f"{LATER}: {target.text}" for target in targets if target not in earlier)
    return replace(action.fact, turns=cited, supersedes=tuple(item.uid for item in earlier))


# --- Procedures -----------------------------------------------------------------------------


def procedure_lines(procedures: Sequence[Written]) -> dict[str, str]:
    """Procedures by label, each as its writer is shown it."""
    return {
        f"P{number}": f"{one_line(procedure.title)} ({one_line(procedure.text) or '-'}): "
        + " ".join(f"{at}. {one_line(step)}" for at, step in enumerate(procedure.steps, 1))
        for number, procedure in enumerate(procedures, 1)
    }


def write_procedures(
    run: WriterRun, written: Sequence[Written], turns: Sequence[Turn]
) -> list[WrittenRow]:
    """New procedures, and new versions of those that changed."""
    known = newest_written(written, "procedure")[-MOST_LISTED:]
    lines = procedure_lines(known)
    labels = dict(zip(lines, known, strict=True))
    chains: dict[str, WrittenRow] = {}
    for action in run.operations("procedural", lines, turns):
        row = _procedure(run.space, action, labels, turns)
        if row is not None:
            chains[row.chain] = row
    return list(chains.values())


def _procedure(
    space: str, action: Action, labels: Mapping[str, Written], turns: Sequence[Turn]
) -> WrittenRow | None:
    chunks = tuple(turns[index].uid for index in action.turns if turns[index].uid)
    same = [
        procedure
        for procedure in labels.values()
        if normalise(procedure.title) == normalise(action.title)
    ]
    old = labels[action.targets[0]] if action.targets else next(iter(same), None)
    if old is not None and (old.title, old.steps, old.text) == (
        action.title, action.steps, action.text,
    ):  # fmt: skip
        return None
    chain = old.chain if old else uid("Procedure", space, normalise(action.title))
    return WrittenRow(
        "procedure", chain, old.version if old else 0, action.text, chunks, action.title,
        action.steps,
    )  # fmt: skip
