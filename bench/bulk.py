"""Fill a SQLite file with a large synthetic space in minutes, for benchmarks of searching.

python -m bench.bulk FILE --chunks 1000000 --triples 3000000 [--run NAME]

The rows have the form that inserting and enriching give them, and they are written in bulk,
without an extractor. Two things differ from enrichment: vectors are normalised sums of the vectors
of their words, and names have no vectors of their own, which only the merging of names reads. The
first 2,000 messages are those of ``synthetic.messages``, so that the same questions can be asked.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from bench.synthetic import FUNCTION_WORDS, START, TURNS_PER_SESSION, World, messages
from cognigraph import Memory, ids
from cognigraph.embed.word_vectors import WordLlamaEmbedder
from cognigraph.stores.sqlite.rows import POSTING, VectorFormat, pack_uid, term_hash
from cognigraph.text.terms import stem
from cognigraph.times import to_micros

EXACT = 2000
"""Messages that equal those of ``synthetic.messages``."""
BATCH = 20_000
RUN = "search"
Ints = npt.NDArray[np.int64]


class Words:
    """The vocabulary as numbers, with the vector and the index term of each word."""

    def __init__(self, world: World) -> None:
        self.names = [*dict.fromkeys([*world.words, *FUNCTION_WORDS])]
        self.number = {word: index for index, word in enumerate(self.names)}
        self.vectors = WordLlamaEmbedder().embed(self.names)
        hashes = np.array([term_hash(stem(word)) for word in self.names], np.uint64)
        self._hashes, self._terms = np.unique(hashes, return_inverse=True)
        self._format = VectorFormat(self.vectors.shape[1], "float16")

    def read(self, text: str) -> list[int]:
        """Return the numbers of the words of a text."""
        return [self.number[word] for word in text.lower().strip(".?!").split()]

    def packed(self, words: Ints, sizes: Ints) -> tuple[list[bytes], list[bytes]]:
        """Return the vectors and the terms of texts as blobs."""
        starts = np.r_[0, np.cumsum(sizes)[:-1]]
        sums = np.add.reduceat(self.vectors[words], starts, axis=0)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        vectors = self._format.pack(sums)
        width = len(vectors) // len(sizes)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        pairs, counts = np.unique(rows * len(self._hashes) + self._terms[words], return_counts=True)
        entries = np.empty(len(pairs), POSTING)
        entries["term"] = self._hashes[pairs % len(self._hashes)]
        entries["frequency"] = counts
        ends = np.cumsum(np.bincount(pairs // len(self._hashes))) * POSTING.itemsize
        terms = entries.tobytes()
        return (
            [vectors[at : at + width] for at in range(0, len(vectors), width)],
            [terms[a:b] for a, b in zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True)],
        )


@dataclass
class Turns:
    """Some messages in a row: their numbers of words, these words, and their texts."""

    first: int
    sizes: Ints
    words: Ints
    texts: list[str]


def turns(world: World, words: Words, count: int) -> Iterator[Turns]:
    """Yield messages of the shape that ``World.turn`` gives them."""
    exact = [message.text for message in messages(world, min(count, EXACT))]
    read = [words.read(text) for text in exact]
    yield Turns(0, np.array([len(item) for item in read]), np.concatenate(read), exact)
    source = np.random.default_rng(world.seed)
    common = 1 / (np.arange(len(world.words)) + 10)
    common /= common.sum()
    small = np.array([words.number[word] for word in FUNCTION_WORDS])
    for first in range(len(exact), count, BATCH):
        sizes = source.lognormal(2.7, 0.6, min(BATCH, count - first)).clip(4, 40).astype(int)
        drawn = source.choice(len(world.words), sizes.sum(), p=common)
        is_small = source.random(len(drawn)) < 0.5
        drawn[is_small] = small[source.integers(len(small), size=is_small.sum())]
        spelled = iter(np.split(np.array(words.names, object)[drawn], np.cumsum(sizes)[:-1]))
        marks = source.choice([".", ".", ".", "?", "!"], len(sizes)).tolist()
        joined = (" ".join(own).capitalize() for own in spelled)
        texts = [text + mark for text, mark in zip(joined, marks, strict=True)]
        yield Turns(first, sizes, drawn, texts)


class Filler:
    """Writes the rows of one space."""

    def __init__(self, connection: sqlite3.Connection, space: str, world: World) -> None:
        self._connection = connection
        self._space = space
        self._words = Words(world)
        self._source = np.random.default_rng(world.seed + 1)
        self.speakers = [message.speaker or "" for message in messages(world, 2)]
        number = self._words.number
        self._people = np.array([number[name.lower()] for name in world.people])
        self._things = np.array([number[word] for word in world.things])
        self._verbs = np.array([number[word] for word in world.verbs])
        self._speaking = np.array([number[name.lower()] for name in self.speakers])
        self._entities: dict[tuple[int, ...], int] = {}
        self._keys: dict[str, int] = {}
        self._triples: set[str] = set()
        (last,) = connection.execute("SELECT max(id) FROM space").fetchone()
        self.space_id = (last or 0) + 1

    def fill(self, world: World, count: int, per_turn: int) -> None:
        """Write everything."""
        sessions = -(-count // TURNS_PER_SESSION)
        self._connection.execute(
            "INSERT INTO space (id, name, revision, epoch) VALUES (?, ?, ?, random())",
            (self.space_id, self._space, sessions),
        )
        for some in turns(world, self._words, count):
            self._take_chunks(some)
            if per_turn:
                self._take_triples(some, per_turn)
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN")

    def _many(self, table: str, rows: list[tuple[object, ...]], columns: str = "") -> None:
        marks = ",".join("?" * len(rows[0]))
        self._connection.executemany(f"INSERT INTO {table} {columns} VALUES ({marks})", rows)

    def _at(self, number: int) -> int:
        session, index = divmod(number, TURNS_PER_SESSION)
        return to_micros(START + timedelta(days=session, seconds=30 * index))

    def _take_chunks(self, some: Turns) -> None:
        numbers = np.arange(some.first, some.first + len(some.sizes))
        starts = np.r_[0, np.cumsum(some.sizes)[:-1]]
        words = np.insert(some.words, starts, self._speaking[numbers % 2])
        sizes = some.sizes + 1
        vectors, terms = self._words.packed(words, sizes)
        chunks: list[tuple[object, ...]] = []
        index: list[tuple[object, ...]] = []
        work: list[tuple[object, ...]] = []
        summarised: list[tuple[int, int, str]] = []
        for offset, (number, text, size) in enumerate(
            zip(numbers.tolist(), some.texts, sizes.tolist(), strict=True)
        ):
            id, session = number + 1, number // TURNS_PER_SESSION
            speaker, at = self.speakers[number % 2], self._at(number)
            uid = ids.chunk_uid(ids.message_uid(self._space, f"s{session}", f"m{number}"), 0)
            digest = ids.uid("Digest", speaker, text)
            chunks.append(
                (id, uid, self.space_id, session + 1, f"m{number}", 0, 1, speaker, at, text, digest)
            )
            index.append(
                (id, self.space_id, session + 1, session + 1, at, speaker, text.endswith("?"),
                 size, pack_uid(uid), terms[offset], vectors[offset], 0)
            )  # fmt: skip
            work.append((id, self.space_id, session + 1, 1, "synthetic-1"))
            if number % TURNS_PER_SESSION == 0:
                summarised.append((offset, session, text))
        self._take_sessions(summarised, int(numbers[-1]) + 1, vectors, terms, sizes)
        self._many(
            "chunk", chunks, "(id, uid, space_id, session_id, message_id, part, parts, speaker,"
            " at, text, digest)",
        )  # fmt: skip
        self._many("chunk_index", index)
        self._many("work", work, "(chunk_id, space_id, session_id, state, extractor)")

    def _take_sessions(
        self,
        firsts: list[tuple[int, int, str]],
        end: int,
        vectors: list[bytes],
        terms: list[bytes],
        sizes: Ints,
    ) -> None:
        """Write the sessions that begin here, with their keys and a theme, the first message."""
        for offset, session, text in firsts:
            uid, first = ids.session_uid(self._space, f"s{session}"), session * TURNS_PER_SESSION
            last = min(first + TURNS_PER_SESSION, end) - 1
            self._connection.execute(
                """INSERT INTO session (id, uid, space_id, name, started_at, ended_at, messages,
                     chunks, version, changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)""",
                (session + 1, uid, self.space_id, f"s{session}", self._at(first), self._at(last),
                 last - first + 1, last - first + 1, session + 1),
            )  # fmt: skip
            title = f"{self.speakers[0]} on {text.split()[0].lower()}"
            self._connection.execute(
                """INSERT INTO theme (uid, space_id, session_id, place, title, summary, length,
                     terms, vector) VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)""",
                (ids.theme_uid(self._space, f"s{session}", title), self.space_id, session + 1,
                 title, text, int(sizes[offset]), terms[offset], vectors[offset]),
            )  # fmt: skip
            for word in dict.fromkeys(text.lower().strip(".?!").split()[:6]):
                key = self._keys.get(word)
                if key is None:
                    key = self._keys[word] = len(self._keys) + 1
                    vector = self._words.vectors[self._words.number[word]]
                    packed = vector.astype(np.float16).tobytes()
                    row = key, ids.key_uid(self._space, word), self.space_id, word, packed
                    self._connection.execute("INSERT INTO key VALUES (?, ?, ?, ?, ?)", row)
                self._connection.execute(
                    "INSERT INTO session_key VALUES (?, ?, 1.0)", (session + 1, key)
                )

    def _entity(self, words: tuple[int, ...], type: str, new: list[tuple[object, ...]]) -> int:
        id = self._entities.get(words)
        if id is None:
            id = self._entities[words] = len(self._entities) + 1
            name = " ".join(self._words.names[word] for word in words)
            key = " ".join(stem(part) for part in name.split())
            shown = name.capitalize() if type == "person" else name
            uid = ids.uid("Entity", self._space, name, type)
            new.append((id, uid, self.space_id, shown, name, type, key, shown))
        return id

    def _take_triples(self, some: Turns, per_turn: int) -> None:
        count, source = len(some.sizes) * per_turn, self._source
        numbers = np.repeat(np.arange(some.first, some.first + len(some.sizes)), per_turn)
        own = source.random(count) < 0.5
        subject = np.where(own, self._speaking[numbers % 2], source.choice(self._people, count))
        verbs = source.choice(self._verbs, count)
        things = source.choice(self._things, (count, 2))
        words = np.column_stack([subject, verbs, things])
        vectors, terms = self._words.packed(words.ravel(), np.full(count, 4))
        names = self._words.names
        entities: list[tuple[object, ...]] = []
        triples: list[tuple[object, ...]] = []
        index: list[tuple[object, ...]] = []
        evidence: list[tuple[object, ...]] = []
        for row, (number, (who, verb, *what)) in enumerate(
            zip(numbers.tolist(), words.tolist(), strict=True)
        ):
            first = self._entity((who,), "person", entities)
            second = self._entity(tuple(what), "object", entities)
            relation, at = names[verb], self._at(number)
            uid = ids.uid("Triple", self._space, str(first), relation, str(second), "", "")
            if uid in self._triples:
                continue
            self._triples.add(uid)
            id, session = len(self._triples), number // TURNS_PER_SESSION
            said = names[who].capitalize(), relation, f"{names[what[0]]} {names[what[1]]}"
            triples.append((id, uid, self.space_id, first, second, *said, 0, at, at, first, second))
            index.append(
                (id, self.space_id, session + 1, first, second, at, at, 4, pack_uid(uid),
                 terms[row], vectors[row])
            )  # fmt: skip
            evidence.append((id, number + 1, id, at))
        self._many("entity", entities, "(id, uid, space_id, name, normalised, type, key, spelled)")
        self._many(
            "triple", triples, "(id, uid, space_id, subject_id, object_id, subject, relation,"
            " object, negated, first_observed, last_observed, raw_subject_id, raw_object_id)",
        )  # fmt: skip
        self._many("triple_index", index)
        self._many("evidence", evidence, "(raw_id, chunk_id, triple_id, observed_at)")


def bulk_fill(path: str, chunks: int, triples: int, run: str) -> float:
    """Create a file with one space, ``run-0``; return the seconds that it took."""
    started = time.perf_counter()
    world = World()
    with Memory(path, enrich="manual") as memory:
        assert not memory.spaces(), f"{path} has spaces; give the name of a new file"
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -2000000",
                    "temp_store = FILE"):  # fmt: skip
        connection.execute(f"PRAGMA {setting}")
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    connection.execute("BEGIN")
    Filler(connection, f"{run}-0", world).fill(world, chunks, triples // chunks)
    connection.execute("COMMIT")
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return round(time.perf_counter() - started, 1)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument(
        "--triples", type=int, default=3_000_000,
        help="about that many: each message gets the same number, rounded down",
    )  # fmt: skip
    parser.add_argument("--run", default=RUN)
    arguments = parser.parse_args()
    if arguments.chunks < 1 or arguments.triples < 0:
        parser.error("there must be a message at least, and no negative number of triples")
    print(bulk_fill(arguments.file, arguments.chunks, arguments.triples, arguments.run), "s")


if __name__ == "__main__":
    main()
