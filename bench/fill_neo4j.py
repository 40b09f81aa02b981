"""Fill a Neo4j database with a large synthetic space quickly, for search.py, insert.py, growth.py.

python -m bench.fill_neo4j --store URI --run NAME --chunks N --triples M --json FILE

Messages are added as programs add them. The facts are derived from the same made-up extractions
as in search.py, but written by the thousand, without a queue, and without comparing each new name
with all others, which takes most of the time of an enrichment and changes nothing in what a search
reads. The vector indexes are then created as for any space that has grown. A space that has been
filled in part, here or by an enrichment, is continued: sessions without all their facts are
written, and what they have already is left as it is.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from bench.measure import machine, write
from bench.synthetic import TURNS_PER_SESSION, SyntheticExtractor, World, messages
from cognigraph import Memory, Message, ids
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.ingest import Window
from cognigraph.ingest.derive import derive
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.derive import entity_row
from cognigraph.stores.neo4j.index.packed import pack
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.values import spread
from cognigraph.stores.records import Derivation, Lease, SessionNotes, WorkChunk

SESSIONS = 8
"""Sessions in one transaction, with 200 messages and the facts in them. Each seek in an index takes
Neo4j 2026 the longer, the more nodes the transaction has changed."""

ENTITIES = """CYPHER 5
UNWIND $entities AS row
MERGE (entity:Named {uid: row.entity.uid})
  ON CREATE SET entity += row.entity, entity:Entity, entity.loops = 0, entity.embedding = row.vector
"""
TRIPLES = """CYPHER 5
UNWIND $triples AS row
MATCH (subject:Entity {uid: row.properties.subject_uid})
MATCH (object:Entity {uid: row.properties.object_uid})
MATCH (session:Session {uid: row.session})
MATCH (chunk:Chunk {uid: row.chunks[0]})
MERGE (triple:Triple {uid: row.properties.uid})
  ON CREATE SET triple += row.properties, triple:Fact
MERGE (triple)-[evidence:EVIDENCE]->(chunk) ON CREATE SET evidence.observed_at = chunk.at
MERGE (triple)-[:IN_SESSION]->(session)
WITH triple, row, subject, object WHERE triple.embedding IS NULL
MERGE (triple)-[:SUBJECT]->(subject)
MERGE (triple)-[:OBJECT]->(object)
WITH triple, row
CALL (triple, row) { CALL db.create.setNodeVectorProperty(triple, 'embedding', row.vector) }
SET triple.packed = row.ranking
"""
MENTIONS = """CYPHER 5
UNWIND $mentions AS row
MATCH (chunk:Chunk {uid: row[0]})
MATCH (entity:Entity {uid: row[1]})
MERGE (chunk)-[:MENTIONS]->(entity)
"""
SUMMARIES = """CYPHER 5
UNWIND $sessions AS row
MATCH (session:Session {uid: row.uid})
SET session.version = 1
MERGE (theme:Theme {uid: row.theme.uid}) ON CREATE SET theme += row.theme
MERGE (session)-[:HAS_THEME]->(theme)
WITH session, theme, row
CALL (theme, row) {
  WITH theme, row WHERE theme.embedding IS NULL
  CALL db.create.setNodeVectorProperty(theme, 'embedding', row.vector)
}
SET theme.packed = row.ranking
WITH session, row
UNWIND row.keys AS one
MERGE (key:Key {uid: one.uid}) ON CREATE SET key.space = $space, key.name = one.name
MERGE (session)-[own:HAS_KEY]->(key) ON CREATE SET own.weight = one.weight
WITH key, one WHERE key.embedding IS NULL AND one.vector IS NOT NULL
CALL (key, one) { CALL db.create.setNodeVectorProperty(key, 'embedding', one.vector) }
"""
FINISH = """CYPHER 5
MATCH (chunk:Chunk) WHERE chunk.uid IN $chunks
SET chunk.state = 'done', chunk.extractor = 'synthetic-1'
"""
UNFINISHED = """CYPHER 5
MATCH (session:Session) WHERE session.space = $space
WITH session, COUNT { (session)<-[:IN_SESSION]-(:Triple) } AS triples
WHERE triples < 0.9 * $per_turn * session.chunks
  OR EXISTS { (session)-[:HAS_CHUNK]->(chunk:Chunk) WHERE chunk.state <> 'done' }
RETURN collect(session.id)
"""
NEWEST = """CYPHER 5
MATCH (node:Triple|Theme) WHERE node.space = $space AND node.seq > 0
RETURN coalesce(max(node.seq), 0)
"""
TOTALS = """CYPHER 5
MERGE (facts:SpaceFacts {name: $space})
  ON CREATE SET facts.triple_labels = [], facts.triple_indexed = false,
                facts.theme_labels = [], facts.theme_indexed = false
WITH facts
CALL () {
  MATCH (triple:Triple) WHERE triple.space = $space AND triple.seq > 0
  RETURN count(triple) AS triples, sum(triple.length) AS length, max(triple.seq) AS newest
}
CALL () {
  MATCH (theme:Theme) WHERE theme.space = $space AND theme.seq > 0
  RETURN count(theme) AS themes, max(theme.seq) AS newest_theme
}
SET facts.triples = triples, facts.length = length, facts.themes = themes,
    facts.seq = CASE WHEN newest > newest_theme THEN newest ELSE newest_theme END
RETURN triples, themes
"""
STATES = (
    "CYPHER 5 SHOW INDEXES YIELD name, state, populationPercent WHERE name STARTS WITH 'vector_'"
)


class Filler:
    """Writes the facts of sessions of one space."""

    def __init__(self, connection: Connection, space: str, world: World, per_turn: int) -> None:
        self._connection = connection
        self._space = space
        self._extractor = SyntheticExtractor(world, per_turn)
        self._embedder = CheckedEmbedder(resolve("wordllama"))

    def rows(self, sessions: Iterable[list[Message]], first: int) -> dict[str, Any]:
        """Derive the rows of some sessions; ``first`` is the first arrival number."""
        space = self._space
        entities: dict[str, dict[str, Any]] = {}
        found: dict[str, list[Any]] = {
            name: [] for name in ("triples", "mentions", "sessions", "chunks")
        }
        for turns in sessions:
            lease, derivation = self._derived(turns)
            times = {chunk.uid: chunk.at for chunk in lease.chunks}
            found["chunks"].extend(times)
            for entity in derivation.entities:
                entities[entity.uid] = entity_row(space, entity)
            for triple in _triples(self._connection, space, derivation, times):
                triple["properties"]["seq"] = first = first + 1
                found["triples"].append({**triple, "session": lease.session_uid})
            found["mentions"] += [list(pair) for pair in derivation.mentions]
            first += 1
            found["sessions"].append(_summary(self._connection, space, lease, derivation, first))
        return {"entities": [entities[uid] for uid in sorted(entities)], **found, "space": space}

    def write(self, rows: dict[str, Any]) -> None:
        """Write rows in one transaction."""
        connection = self._connection

        def work(tx: Any) -> None:
            for text in (ENTITIES, TRIPLES, MENTIONS, SUMMARIES, FINISH):
                tx.run(text, rows).consume()

        with connection.driver.session(database=connection.database) as session:
            session.execute_write(work)

    def _derived(self, turns: list[Message]) -> tuple[Lease, Derivation]:
        space, session = self._space, turns[0].session
        chunks = tuple(_work_chunk(space, turn) for turn in turns)
        lease = Lease(
            "fill", space, session, ids.session_uid(space, session), chunks, (), SessionNotes(),
            datetime.now(UTC) + timedelta(hours=1),
        )  # fmt: skip
        extraction = self._extractor.extract(Window(space, session, chunks))
        return lease, derive(extraction, lease, self._extractor.name, self._embedder)[0]


def _work_chunk(space: str, turn: Message) -> WorkChunk:
    assert turn.id is not None and isinstance(turn.at, datetime)
    uid = ids.chunk_uid(ids.message_uid(space, turn.session, turn.id), 0)
    return WorkChunk(uid, turn.id, turn.session, turn.speaker, turn.at, turn.text)


def _triples(
    connection: Connection, space: str, derivation: Derivation, times: dict[str, datetime]
) -> Iterator[dict[str, Any]]:
    for triple in derivation.triples:
        observed = [times[uid] for uid in triple.evidence]
        properties = {
            "uid": triple.uid, "space": space, "subject_uid": triple.subject_uid,
            "object_uid": triple.object_uid, "raw_subject": triple.subject_uid,
            "raw_object": triple.object_uid, "spelled": triple.spelled,
            "subject": triple.subject, "said_subject": triple.subject,
            "relation": triple.relation, "object": triple.object, "said_object": triple.object,
            "negated": triple.negated, "status": "current", "first_observed": min(observed),
            "last_observed": max(observed), "length": sum(triple.terms.values()),
            "terms": spread(triple.terms), "lexemes": tokens.lexemes(space, triple.terms),
        }  # fmt: skip
        yield {
            "properties": properties,
            "chunks": list(triple.evidence),
            "vector": connection.vector(triple.vector),
            "ranking": pack(space, triple.uid, triple.terms, triple.vector),
        }


def _summary(
    connection: Connection, space: str, lease: Lease, derivation: Derivation, seq: int
) -> dict[str, Any]:
    (theme,) = derivation.themes or ()
    return {
        "uid": lease.session_uid,
        "theme": {
            "uid": theme.uid, "space": space, "session_uid": lease.session_uid, "place": 0,
            "seq": seq, "title": theme.title, "summary": theme.summary, "reason": theme.reason,
            "length": sum(theme.terms.values()), "terms": spread(theme.terms),
        },
        "vector": connection.vector(theme.vector),
        "ranking": pack(
            space, theme.uid, theme.terms, theme.vector, session=lease.session_uid
        ),
        "keys": [
            {
                "uid": key.uid,
                "name": key.name,
                "weight": key.weight,
                "vector": connection.vector(key.vector),
            }
            for key in derivation.keys or ()
        ],
    }  # fmt: skip


def sessions_of(world: World, chunks: int) -> Iterator[list[Message]]:
    """Yield the messages of the space, session by session."""
    stream = messages(world, chunks)
    while turns := list(islice(stream, TURNS_PER_SESSION)):
        yield turns


def fill_facts(filler: Filler, world: World, chunks: int, unfinished: set[str], seq: int) -> None:
    """Write the facts of some sessions; ``seq`` is the newest arrival number."""
    stream = (turns for turns in sessions_of(world, chunks) if turns[0].session in unfinished)
    with ThreadPoolExecutor(1) as writing:
        last: Future[None] | None = None
        while batch := list(islice(stream, SESSIONS)):
            rows = filler.rows(batch, seq)
            seq += len(rows["triples"]) + len(rows["sessions"])
            if last is not None:
                last.result()
            last = writing.submit(filler.write, rows)
        if last is not None:
            last.result()


def wait_for_indexes(connection: Connection) -> None:
    """Wait until the server has built all vector indexes."""
    while True:
        with connection.driver.session(database=connection.database) as session:
            rows = session.run(STATES).values()
        if all(state == "ONLINE" for _, state, _ in rows):
            return
        time.sleep(2)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--triples", type=int, default=300_000)
    parser.add_argument("--run", default="big", help="prefix of the space's name, as in search.py")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    space, world = f"{arguments.run}-0", World()
    seconds: dict[str, float] = {}
    with Memory(arguments.store, enrich="manual") as memory:
        stats = memory.space(space).stats()
        started = time.perf_counter()
        memory.space(space).add_many(islice(messages(world, arguments.chunks), stats.chunks, None))
        seconds["insert_s"] = round(time.perf_counter() - started, 1)
        connection, store = memory._engine.store._connection, memory._engine.store  # type: ignore[attr-defined]
        started = time.perf_counter()
        per_turn = arguments.triples // arguments.chunks
        filler = Filler(connection, space, world, per_turn)
        with connection.driver.session(database=connection.database) as session:
            unfinished = session.run(UNFINISHED, {"space": space, "per_turn": per_turn}).values()
            newest = session.run(NEWEST, {"space": space}).values()
        fill_facts(filler, world, arguments.chunks, set(unfinished[0][0]), newest[0][0])
        with connection.driver.session(database=connection.database) as session:
            triples, themes = session.run(TOTALS, {"space": space}).values()[0]
        seconds["facts_s"] = round(time.perf_counter() - started, 1)
        started = time.perf_counter()
        indexes: OwnIndexes = store._indexes  # type: ignore[attr-defined]
        indexes.grow(space, "Triple", triples, False)
        indexes.grow(space, "Theme", themes, False)
        wait_for_indexes(connection)
        seconds["index_s"] = round(time.perf_counter() - started, 1)
    result = {
        "chunks": arguments.chunks,
        "triples": triples,
        "sessions": themes,
        "chunks_before": stats.chunks,
        **seconds,
        "machine": machine(),
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
