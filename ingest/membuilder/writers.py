"""The four writers: each reads new turns beside what it keeps, and returns what it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from cognigraph.errors import ModelError
from cognigraph.ids import normalise, uid
from cognigraph.ingest.membuilder.actions import (
    Action,
    Writer,
    WriterCall,
    check_core,
    valid_actions,
)
from cognigraph.ingest.model.transcript import Turn, numbered
from cognigraph.llm import Model, Prompt
from cognigraph.llm.prompts import PromptFile, prompt_file, render
from cognigraph.model import Theme, Triple, Usage, Written
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
    "episodic": "episodic-1",
    "semantic": "semantic-1",
    "procedural": "procedural-1",
}
COMPRESS = "compress-1"
_PACKAGE = "cognigraph.ingest.membuilder.prompts"
PROFILE = "profile"
"""The chain of the core profile of a space."""
MOST_EPISODES = 40
MOST_LISTED = 60
"""Largest number of procedures that a prompt lists."""
WRITER_REASON = "topic"

_T = TypeVar("_T", bound="BaseModel")


def writer_prompt(id: str) -> PromptFile:
    """A prompt of the writers by its name and version."""
    return prompt_file(id, _PACKAGE)


@dataclass(slots=True)
class WriterRun:
    """One run of the writers over a window: whom they ask, and what that took."""

    model: Model
    space: str
    session: str
    record: Callable[[WriterCall], None] | None = None
    usage: Usage = field(default_factory=Usage)
    refused: list[str] = field(default_factory=list)

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

    def keep(
        self, writer: Writer, prompt: Prompt, answer: BaseModel, refused: Sequence[str]
    ) -> None:
        """Note what was not valid, and record the call."""
        self.refused += refused
        if self.record is not None:
            self.record(
                WriterCall(
                    writer, prompt.version, self.space, self.session, prompt.system, prompt.user,
                    answer.model_dump(mode="json", exclude_defaults=True), tuple(refused),
                )
            )  # fmt: skip


def newest(written: Sequence[Written], kind: str) -> list[Written]:
    """The newest versions of a kind, by chain."""
    by_chain = {
        version.chain: version for version in sorted(written, key=lambda version: version.version)
    }
    return [version for _, version in sorted(by_chain.items()) if version.kind == kind]


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

    known = next(iter(newest(written, "profile")), None)
    text, version = (known.text, known.version) if known is not None else ("", 0)
    prompt = core_prompt(text, turns)
    answer = run.ask(prompt, CoreAnswer)
    problem = check_core(answer)
    if problem or answer.operation == "NONE":
        run.keep("core", prompt, answer, [f"{problem}: core {answer.operation}"] if problem else [])
        return []
    operation = _core_operation(answer)
    try:
        new = _compressed(run, applied(text, operation))
    except RefusedOperation as refusal:
        run.keep("core", prompt, answer, [f"core {operation.action} {refusal}"])
        return []
    run.keep("core", prompt, answer, [])
    chunks = tuple(turn.uid for turn in turns if turn.uid)
    if new == text:
        return []
    return [WrittenRow("profile", PROFILE, version, new, chunks, operation=operation)]


def _core_operation(answer: CoreAnswer) -> CoreOperation:
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


# --- Episodes -------------------------------------------------------------------------------


def episodic_prompt(episodes: Sequence[Theme], turns: Sequence[Turn]) -> Prompt:
    """What the writer of episodes is asked."""
    lines = [
        f"E{number}. {one_line(theme.title)}: {one_line(theme.summary)}"
        for number, theme in enumerate(episodes, 1)
    ]
    shown = "\n".join(lines) or "-"
    return render(writer_prompt(PROMPTS["episodic"]), episodes=shown, turns=numbered(turns))


def write_episodes(
    run: WriterRun, episodes: Sequence[Theme], turns: Sequence[Turn]
) -> tuple[Theme, ...]:
    """The session's episodes with what the turns add to them.

    An entry that is updated keeps its identity, and its earlier text stays in the revisions. A
    merged one stands beside those it was made out of.
    """
    from cognigraph.ingest.membuilder.answer_schema import EpisodicAnswer

    prompt = episodic_prompt(episodes, turns)
    answer = run.ask(prompt, EpisodicAnswer)
    labels = {f"E{number}": index for index, number in enumerate(range(1, len(episodes) + 1))}
    actions, refused = valid_actions("episodic", answer.operations, labels, len(turns))
    run.keep("episodic", prompt, answer, refused)
    themes = list(episodes)
    for action in actions:
        _take_episode(themes, action, labels, turns)
    return tuple(themes)


def _take_episode(
    themes: list[Theme], action: Action, labels: Mapping[str, int], turns: Sequence[Turn]
) -> None:
    covers = tuple(turns[index].uid for index in action.turns if turns[index].uid)
    if action.action == "UPDATE":
        index = labels[action.targets[0]]
        old = themes[index]
        themes[index] = replace(
            old, title=action.title, summary=action.text, covers=(*old.covers, *covers)
        )
        return
    if len(themes) >= MOST_EPISODES:
        return
    titles = {normalise(theme.title) for theme in themes}
    title = (
        action.title
        if normalise(action.title) not in titles
        else (f"{action.title} ({len(themes) + 1})")
    )
    sources = [themes[labels[target]] for target in action.targets]
    covers = (*(uid for source in sources for uid in source.covers), *covers)
    origins = tuple(source.uid for source in sources if source.uid)
    themes.append(Theme(title, action.text, "", covers, WRITER_REASON, origins))


# --- Facts ----------------------------------------------------------------------------------


def semantic_prompt(facts: Sequence[Triple], turns: Sequence[Turn]) -> Prompt:
    """What the writer of facts is asked."""
    lines = [
        f"F{number}. {one_line(fact.text)}{f' ({fact.when})' if fact.when else ''}"
        for number, fact in enumerate(facts, 1)
    ]
    return render(
        writer_prompt(PROMPTS["semantic"]), facts="\n".join(lines) or "-", turns=numbered(turns)
    )


def write_facts(run: WriterRun, facts: Sequence[Triple], turns: Sequence[Turn]) -> list[str]:
    """Facts in the form of the model extractor; one that updates another one replaces it."""
    from cognigraph.ingest.membuilder.answer_schema import SemanticAnswer

    prompt = semantic_prompt(facts, turns)
    answer = run.ask(prompt, SemanticAnswer)
    labels = [f"F{number}" for number in range(1, len(facts) + 1)]
    actions, refused = valid_actions("semantic", answer.operations, labels, len(turns))
    run.keep("semantic", prompt, answer, refused)
    run.refused += (f"skipped: {action.text}" for action in actions if action.action == "SKIP")
    return [_line(action) for action in actions if action.fact is not None]


def _line(action: Action) -> str:
    fact = action.fact
    assert fact is not None
    time = " = ".join(part for part in (fact.words, fact.date) if part)
    cited = ",".join(str(index + 1) for index in action.turns)
    parts = [cited, fact.subject, fact.relation, fact.object, time, fact.source]
    return " | ".join([*parts, "replaces" if action.action == "UPDATE" or fact.replaces else ""])


# --- Procedures -----------------------------------------------------------------------------


def procedural_prompt(procedures: Sequence[Written], turns: Sequence[Turn]) -> Prompt:
    """What the writer of procedures is asked."""
    lines = [
        f"P{number}. {one_line(procedure.title)} ({one_line(procedure.text) or '-'}): "
        + " ".join(f"{at}. {one_line(step)}" for at, step in enumerate(procedure.steps, 1))
        for number, procedure in enumerate(procedures, 1)
    ]
    return render(
        writer_prompt(PROMPTS["procedural"]),
        procedures="\n".join(lines) or "-",
        turns=numbered(turns),
    )


def write_procedures(
    run: WriterRun, written: Sequence[Written], turns: Sequence[Turn]
) -> list[WrittenRow]:
    """New procedures, and new versions of those that changed."""
    from cognigraph.ingest.membuilder.answer_schema import ProceduralAnswer

    known = newest(written, "procedure")[-MOST_LISTED:]
    prompt = procedural_prompt(known, turns)
    answer = run.ask(prompt, ProceduralAnswer)
    labels = {f"P{number}": procedure for number, procedure in enumerate(known, 1)}
    actions, refused = valid_actions("procedural", answer.operations, labels, len(turns))
    run.keep("procedural", prompt, answer, refused)
    chains: dict[str, WrittenRow] = {}
    for action in actions:
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
