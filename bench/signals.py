"""The signals of the default profile for all questions of a data folder, gathered once and kept.

Each embedder, extraction and kind of talk costs minutes, mostly for vectors. With a folder to keep
them in, vectors are made once for a text, and the signals once for the sources and the data.
Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import numpy as np

import cognigraph
from bench.kept_vectors import embedder_for
from bench.said import filled_space, talks
from cognigraph import Space
from cognigraph.embed.word_vectors import word_vectors
from cognigraph.retrieve.plan import candidate_query
from cognigraph.retrieve.question.analyse import Analysis, analyse
from cognigraph.retrieve.rank.profiles import ABSOLUTE, chunk_features
from cognigraph.retrieve.rank.ranking import scaled, share_of_best, share_of_long
from cognigraph.retrieve.rank.signals import Corrections, corrections, what_is_corrected
from cognigraph.retrieve.standing import (
    STATE_DEPTH,
    DatedMessage,
    may_tell_a_state,
    newer_before_older,
)
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import Candidates, ChunkRecord


@dataclass
class Question:
    """One question's candidates: signals (n, 2 f), which are evidence, and how many there are.

    The second half of the signals repeats the first for a question that asks for a list.
    ``baselines`` are scores (n,) of simple rankings. ``long`` is how long the space's messages are,
    ``enumerates`` whether the question asks for a list. ``sessions`` (n,) and ``messages`` (n,)
    tell the candidates of one session, and of one long message, from those of others. ``corrected``
    tells which candidates correct others.
    """

    kind: str
    conversation: str
    embedder: str
    category: str
    signals: np.ndarray
    baselines: dict[str, np.ndarray]
    long: float
    enumerates: bool
    sessions: np.ndarray
    messages: np.ndarray
    evidence: np.ndarray
    wanted: int
    states: States | None
    corrected: Corrections

    def best_first(self, scores: np.ndarray) -> np.ndarray:
        """Return the rows of the messages in the order in which a search returns them."""
        order = np.argsort(-scores, kind="stable")
        first = np.sort(np.unique(self.messages[order], return_index=True)[1])
        rows = order[first]
        return rows if self.states is None else self.states.in_order(rows, scores)


@dataclass
class States:
    """What a search needs to put newer messages before older ones; arrays (n,) by candidate."""

    at: list[datetime]
    own: np.ndarray
    change: np.ndarray
    may_move: np.ndarray

    def in_order(self, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the rows of the best messages with newer ones before older ones."""
        head = [
            DatedMessage(self.at[row], float(scores[row]), float(self.own[row]),
                      float(self.change[row]), bool(self.may_move[row]))
            for row in rows[:STATE_DEPTH]
        ]  # fmt: skip
        return np.concatenate([rows[newer_before_older(head)], rows[STATE_DEPTH:]])


def gathered(
    data: Path, embedder: str, extraction: str, names: list[str], keep: Path | None
) -> list[Question]:
    """Return the questions of a folder with their signals, from ``keep`` if nothing has changed."""
    if keep is None:
        return collect(data, embedder, extraction, names)
    keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{data.name}-{extraction}-{digest(data, embedder, extraction, *names)}.pickle"
    if not file.exists():
        made = pickle.dumps(collect(data, embedder, extraction, names, str(keep / "vectors.db")))
        file.with_suffix(".part").write_bytes(made)
        file.with_suffix(".part").replace(file)
    questions: list[Question] = pickle.loads(file.read_bytes())
    return questions


def digest(data: Path, *parts: str) -> str:
    """Identify what the signals depend on: the sources, the files of the data and ``parts``."""
    found = blake2b("\0".join(parts).encode(), digest_size=8)
    package = Path(cognigraph.__file__).parent
    for file in (*_files(package, ".py"), *_files(data, ".json"), Path(__file__)):
        found.update(file.read_bytes())
    return found.hexdigest()


def _files(folder: Path, ending: str) -> Iterator[Path]:
    """Yield the files in a folder, also behind symbolic links, in a fixed order."""
    for inside, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        yield from (Path(inside) / name for name in sorted(names) if name.endswith(ending))


def collect(
    data: Path, embedder: str, extraction: str, names: list[str], vectors: str | None = None
) -> list[Question]:
    """Gather the candidates of all questions of all conversations.

    ``vectors`` is a file that keeps vectors.
    """
    questions: list[Question] = []
    model = embedder_for(embedder, vectors, questions=True)
    for talk in talks(data):
        with filled_space(talk, extraction, model) as space:
            for asked in talk.answerable:
                analysis = analyse(asked.text, asked.now)
                found, ids = candidates(space, analysis)
                contextual = not space._engine.embedder.static
                signals, baselines = signals_of(found, analysis, names, contextual)
                long = share_of_long(found.lexicon.mean_length, found.chunks.roles)
                questions.append(
                    Question(data.name, talk.name, embedder, asked.category, signals,
                             baselines, long, analysis.enumerates, found.chunks.session, ids,
                             np.isin(ids, sorted(asked.evidence)), len(asked.evidence),
                             states_of(found, analysis, contextual), corrected_of(found))
                )  # fmt: skip
    return questions


def candidates(space: Space, analysis: Analysis) -> tuple[Candidates, np.ndarray]:
    """Return the candidates of a question, and the id of the message of each."""
    engine = space._engine
    query = candidate_query(analysis, engine.embedder, engine.settings.search)
    found = engine.store.search.candidates(space._name, query)
    records = engine.store.search.chunks(space._name, found.chunks.uids)
    return found, np.array([records[uid].message_id for uid in found.chunks.uids])


def signals_of(
    found: Candidates, analysis: Analysis, names: list[str], contextual: bool
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the scaled signals (n, 2 f) of the candidates, and the scores of simple rankings."""
    raw = chunk_features(found, analysis, SearchSettings(), contextual=contextual)
    n = len(found.chunks.uids)
    columns = [
        np.zeros(n) if name not in raw else raw[name] if name in ABSOLUTE else scaled(raw[name])
        for name in names
    ]
    signals = np.stack(columns, axis=1)
    cosine, words = scaled(raw["vector"]), scaled(raw["words"])
    return (
        np.concatenate([signals, signals * analysis.enumerates], axis=1),
        {"cosine": cosine, "cosine and words": cosine + words},
    )


def states_of(found: Candidates, analysis: Analysis, contextual: bool) -> States | None:
    """Return what orders the messages in time, if the question is about how things are."""
    if not analysis.asks_state:
        return None
    raw = chunk_features(found, analysis, SearchSettings(), contextual=contextual)
    chunks = found.chunks
    own = [share_of_best(raw[name]) for name in ("vector", "words", "triple") if name in raw]
    may_move = [
        may_tell_a_state(replace(_RECORD, text=text, role=role))
        for text, role in zip(chunks.texts, chunks.roles, strict=True)
    ]
    return States(
        [datetime.fromtimestamp(at, UTC) for at in chunks.at],
        np.sum(own, axis=0),
        raw.get("change", np.zeros(len(chunks.uids))),
        np.array(may_move),
    )


def corrected_of(found: Candidates) -> Corrections:
    """Return what is corrected by which candidates."""
    texts = list(found.chunks.texts)
    return what_is_corrected(found.chunks, corrections(texts, word_vectors().read(texts)))


_RECORD = ChunkRecord("", "", "", "", None, datetime.min, "", 0, 1)
