"""The operations of all writers: their validation, what they change, and the record of them.

MemBuilder, section C.3. An operation that is not valid (form, action, fields, a target that exists)
is left out with a reason; in training its reward is 0. The form was checked before: it is what a
model of :mod:`.answer_schema` accepts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from cognigraph.ingest.model.parse_lines import FactLine, fact_line, turn_numbers
from cognigraph.ingest.model.summarise import SummaryState
from cognigraph.ingest.model.transcript import Turn

if TYPE_CHECKING:
    from cognigraph.ingest.membuilder.answer_schema import CoreAnswer, Operation

Writer = Literal["core", "episodic", "semantic", "procedural"]
WRITERS: tuple[Writer, ...] = ("core", "episodic", "semantic", "procedural")
ACTIONS: Mapping[Writer, frozenset[str]] = {
    "core": frozenset({"APPEND", "REPLACE", "REWRITE", "NONE"}),
    "episodic": frozenset({"ADD", "UPDATE", "MERGE"}),
    "semantic": frozenset({"ADD", "UPDATE", "SKIP"}),
    "procedural": frozenset({"ADD", "UPDATE"}),
}
"""Equations 1 to 4, and NONE for a session that changes nothing in the profile."""
MOST: Mapping[Writer, int] = {"core": 1, "episodic": 8, "semantic": 24, "procedural": 6}
"""The largest number of operations of one answer; the rest is left out."""
MOST_STEPS = 30

UNKNOWN_ACTION = "action is not defined for this writer"
MISSING_FIELD = "lacks a required field"
NO_TARGET = "names a target that does not exist"
NO_TURN = "cites no turn of the session"
TOO_MANY = "too many operations"


@dataclass(frozen=True, slots=True)
class Action:
    """A valid operation. ``turns`` are indices (from 0), ``targets`` labels that exist."""

    action: str
    targets: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    steps: tuple[str, ...] = ()
    fact: FactLine | None = None
    turns: tuple[int, ...] = ()


def valid_actions(
    writer: Writer, operations: Iterable[Operation], labels: Collection[str], turns: int
) -> tuple[list[Action], list[str]]:
    """The valid operations of an answer in order, and a reason for each of the others.

    ``labels`` are the targets that exist, such as ``E1``; ``turns`` is the number of turns.
    """
    valid: list[Action] = []
    refused: list[str] = []
    for number, operation in enumerate(operations):
        checked = check(writer, operation, labels, turns) if number < MOST[writer] else TOO_MANY
        if isinstance(checked, Action):
            valid.append(checked)
        else:
            refused.append(f"{checked}: {writer} {operation.action[:40] or '-'}")
    return valid, refused


def check(
    writer: Writer, operation: Operation, labels: Collection[str], turns: int
) -> Action | str:
    """The operation if it is valid, else the reason why not."""
    name = operation.action
    if name not in ACTIONS[writer]:
        return UNKNOWN_ACTION
    if name == "SKIP":
        return Action(name, text=operation.reason.strip())
    targets = tuple(dict.fromkeys(filter(None, (operation.target, *operation.targets))))
    wanted = {"ADD": 0, "UPDATE": 1, "MERGE": 2}[name]
    if len(targets) < wanted:
        return MISSING_FIELD
    if any(target not in labels for target in targets) or (name == "UPDATE" and len(targets) > 1):
        return NO_TARGET
    if name == "ADD":
        targets = ()
    return _with_fields(writer, operation, targets, turns)


def _with_fields(
    writer: Writer, operation: Operation, targets: tuple[str, ...], turns: int
) -> Action | str:
    if writer == "semantic":
        fact = fact_line(operation.fact)
        if fact is None or not (fact.subject and fact.relation and fact.object):
            return MISSING_FIELD
        own = tuple(n - 1 for n in fact.turns if 1 <= n <= turns)
        return Action(operation.action, targets, fact=fact, turns=own) if own else NO_TURN
    cited = tuple(n - 1 for n in turn_numbers(operation.turns) if 1 <= n <= turns)
    title = " ".join(operation.title.split())
    if writer == "episodic":
        text = " ".join(operation.memory.split())
        if not title or not text:
            return MISSING_FIELD
        if not cited and operation.action != "MERGE":
            return NO_TURN
        return Action(operation.action, targets, title, text, turns=cited)
    steps = tuple(step for raw in operation.steps if (step := " ".join(raw.split())))
    if not title or not steps or len(steps) > MOST_STEPS:
        return MISSING_FIELD
    if not cited:
        return NO_TURN
    context = " ".join(operation.context.split())
    return Action(operation.action, targets, title, context, steps, turns=cited)


def check_core(answer: CoreAnswer) -> str:
    """The reason why a change of the profile is not valid; empty if it is."""
    if answer.operation not in ACTIONS["core"]:
        return UNKNOWN_ACTION
    needs_content = answer.operation != "NONE"
    if needs_content and not answer.content.strip():
        return MISSING_FIELD
    if answer.operation == "REPLACE" and not answer.old:
        return MISSING_FIELD
    return ""


_FORMAT = 1


@dataclass(frozen=True, slots=True)
class WriterState:
    """The state of the underlying extractor, and the turns that some writers could not process.

    ``due`` are these writers. ``writes_episodes`` says that the session's themes come from the
    episodic writer and not from the underlying extractor.
    """

    base: str = ""
    unread: tuple[Turn, ...] = ()
    due: tuple[Writer, ...] = ()
    writes_episodes: bool = False

    @classmethod
    def load(cls, text: str) -> WriterState:
        """Parse a saved state; a state in another form is that of the underlying extractor."""
        try:
            data = json.loads(text) if text else {}
            if not isinstance(data, dict) or data.get("membuilder") != _FORMAT:
                return cls(base=text)
            unread = SummaryState.load(data["unread"]).unread
            due = tuple(writer for writer in WRITERS if writer in data["due"])
            return cls(str(data["base"]), unread, due, bool(data["writes_episodes"]))
        except (ValueError, TypeError, KeyError):
            return cls()

    def dump(self) -> str:
        """The state as JSON; :meth:`load` restores an equal state."""
        data = {
            "membuilder": _FORMAT,
            "base": self.base,
            "unread": SummaryState(unread=self.unread).dump(),
            "due": list(self.due),
            "writes_episodes": self.writes_episodes,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def turns_for(self, writer: Writer, new: Sequence[Turn]) -> tuple[Turn, ...]:
        """The turns that a writer has to process."""
        return (*self.unread, *new) if writer in self.due else tuple(new)


@dataclass(frozen=True, slots=True)
class WriterCall:
    """One call: the prompt, the answer (a JSON object), and why parts of it were not valid.

    ``window`` is the same for the calls about the same turns, and ``at`` (ISO 8601) the time of the
    last of these. ``before`` is what the writer kept: the text of the profile, or the texts of the
    entries by label. ``turns`` is the number of turns shown. Recordings made by version 0.1 lack
    these.
    """

    writer: Writer
    version: str
    space: str
    session: str
    system: str
    user: str
    answer: Any
    refused: tuple[str, ...] = ()
    window: str = ""
    at: str = ""
    before: Any = None
    turns: int = 0

    @property
    def is_valid(self) -> bool:
        """Whether all of the answer was valid."""
        return not self.refused


class Recording:
    """Appends calls to a file of JSON lines. Thread-safe. The file quotes messages."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = Lock()

    def __call__(self, call: WriterCall) -> None:
        """Append a call."""
        line = json.dumps(asdict(call), ensure_ascii=False)
        with self._lock, self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n")
