"""Questions about a session, which tell how well it was remembered: MemBuilder, section 3.4.1.

A session has five questions. Over all sessions, half are about the session alone, three in ten need
others too, and two in ten ask about time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.model.transcript import Turn, numbered
from cognigraph.llm import Model
from cognigraph.llm.prompts import prompt_file, render
from cognigraph.model import Session, StoredMessage, Usage
from cognigraph.model.messages import ANONYMOUS

if TYPE_CHECKING:
    from cognigraph.space import Space
    from cognigraph.training.answer_schema import QuestionsAnswer

QuestionKind = Literal["single", "multi", "temporal"]
MIX: tuple[Mapping[QuestionKind, int], ...] = (
    {"single": 3, "multi": 1, "temporal": 1},
    {"single": 2, "multi": 2, "temporal": 1},
)
"""How many questions of each kind the sessions have, by turns."""
PROMPT = "questions-1"
_PAGE = 200
_LONGEST_QUERY = 2000


@dataclass(frozen=True, slots=True)
class SessionQuestion:
    """A question about a session with its answer, for the reward of what was remembered."""

    space: str
    session: str
    kind: QuestionKind
    question: str
    answer: str


def make_questions(
    model: Model,
    *,
    space: str,
    session: str,
    index: int,
    turns: str,
    earlier: str = "-",
) -> tuple[list[SessionQuestion], list[str], Usage]:
    """Let a model write the questions of a session.

    ``turns`` is the session as text, ``earlier`` what is remembered of others. Returns the valid
    questions, a reason for each of the others, and the usage.

    Raises:
        ModelError: the model failed.
    """
    from cognigraph.training.answer_schema import QuestionsAnswer

    wanted = MIX[index % len(MIX)]
    prompt = render(
        prompt_file(PROMPT, "cognigraph.training.prompts"),
        single=str(wanted["single"]),
        multi=str(wanted["multi"]),
        temporal=str(wanted["temporal"]),
        earlier=earlier,
        turns=turns,
    )
    answer = model.ask(prompt, QuestionsAnswer)
    found, refused = valid_questions(answer.value, wanted, space, session)
    return found, refused, answer.usage


def valid_questions(
    answer: QuestionsAnswer, wanted: Mapping[QuestionKind, int], space: str, session: str
) -> tuple[list[SessionQuestion], list[str]]:
    """The questions with a known kind, a text and an answer, each once, and as many as wanted."""
    valid: list[SessionQuestion] = []
    refused: list[str] = []
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for proposed in answer.questions:
        named = proposed.kind.strip().lower()
        kind = next((known for known in get_args(QuestionKind) if known == named), None)
        question, text = proposed.question.strip(), proposed.answer.strip()
        if kind is None:
            refused.append(f"kind is not defined: {proposed.kind[:40] or '-'}")
        elif not question or not text:
            refused.append("lacks the question or the answer")
        elif question.casefold() in seen:
            refused.append(f"asked twice: {question[:80]}")
        elif counts[kind] == wanted.get(kind, 0):
            refused.append(f"too many of kind {kind}")
        else:
            seen.add(question.casefold())
            counts[kind] += 1
            valid.append(SessionQuestion(space, session, kind, question, text))
    return valid, refused


_EARLIER = 20
_EARLIER_TOKENS = 1500
_MOMENT = timedelta(microseconds=1)


def sessions_in_order(space: Space) -> list[Session]:
    """All sessions of a space, oldest first."""
    found: list[Session] = []
    while page := space.overview.sessions(_PAGE, len(found)):
        found += page
    return sorted(found, key=lambda session: (session.started_at, session.id))


def ask_about(
    space: Space, session: Session, index: int, model: Model
) -> tuple[list[SessionQuestion], list[str], Usage]:
    """Let a model write questions about a stored session, number ``index`` (from 0) of its space.

    It is shown what the memory knew before the session that resembles it (20 messages, with facts).

    Raises:
        ModelError: the model failed.
    """
    messages = list(_messages(space, session))
    turns = [
        Turn(message.speaker or ANONYMOUS, message.at, message.text, message.role)
        for message in messages
    ]
    said = " ".join(message.text for message in messages)[:_LONGEST_QUERY]
    earlier = space.context(
        said, _EARLIER_TOKENS, session.started_at, k=_EARLIER, as_of=session.started_at - _MOMENT
    )
    return make_questions(
        model, space=space.name, session=session.id, index=index, turns=numbered(turns),
        earlier=str(earlier) or "-",
    )  # fmt: skip


def _messages(space: Space, session: Session) -> Iterator[StoredMessage]:
    after: str | None = None
    while page := space.messages(session=session.id, limit=_PAGE, after=after):
        yield from page
        after = page.cursor


def append_questions(questions: Iterable[SessionQuestion], path: Path) -> None:
    """Add questions to a file of JSON lines."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for question in questions:
            file.write(json.dumps(asdict(question), ensure_ascii=False) + "\n")


def read_questions(path: Path) -> dict[tuple[str, str], list[SessionQuestion]]:
    """Read questions, by space and session.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not a question.
    """
    by_session: dict[tuple[str, str], list[SessionQuestion]] = {}
    try:
        for line in path.read_text("utf-8").splitlines():
            question = SessionQuestion(**json.loads(line))
            by_session.setdefault((question.space, question.session), []).append(question)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ConfigurationError(f"{path} is not a file of questions: {error}") from error
    return by_session
