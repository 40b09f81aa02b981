"""What would go with some messages, and what would stay because others said it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cognigraph.model import Forgotten
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.forget import losses
from cognigraph.stores.protocols.housekeeping_store import Chosen

_BATCH = 500


def weigh(connection: Connection, chosen: Sequence[Chosen]) -> Forgotten:
    """Count what would go, and what would stay."""
    gone: set[str] = set()
    leaks: set[str] = set()
    reset: list[str] = []
    ended = 0
    for part in chosen:
        (chunks,) = connection.row("forget/chunks_of_session", session=part.session_uid) or (0,)
        lost = losses(connection, part, chunks)
        gone.update(lost.times)
        leaks.update(lost.leaks)
        ends = len(lost.times) == chunks
        ended += ends
        if ends or lost.is_read:
            reset.append(part.session_uid)
    triples, entities = _ties(connection, sorted(gone | leaks))
    kept_triples = _tied_elsewhere(connection, "triples", triples)
    kept_entities = _tied_elsewhere(connection, "entities", entities)
    keys, themes, revisions, reread = _of_sessions(connection, reset, gone)
    return Forgotten(
        messages=sum(len(part.messages) for part in chosen),
        chunks=len(gone),
        sessions=ended,
        triples=len(triples) - kept_triples,
        entities=len(entities) - kept_entities,
        keys=keys,
        themes=themes,
        revisions=revisions,
        kept_triples=kept_triples,
        kept_entities=kept_entities,
        reread=reread,
    )


def _ties(connection: Connection, chunks: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often these chunks say each triple, and mention each entity or state a fact of it."""
    triples: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    for batch in _batches(chunks):
        for said, named in connection.rows("forget/weigh_ties", chunks=batch):
            triples.update(said)
            entities.update(named)
    return triples, entities


def _tied_elsewhere(connection: Connection, kind: str, ties: Mapping[str, int]) -> int:
    """How many of some triples or entities other chunks say or mention too."""
    return sum(
        total > ties[uid]
        for batch in _batches(sorted(ties))
        for uid, total in connection.rows(f"forget/weigh_{kind}", **{kind: batch})
    )


def _of_sessions(
    connection: Connection, sessions: Sequence[str], gone: set[str]
) -> tuple[int, int, int, int]:
    """Keys, themes and revisions that go, and messages that are read again."""
    themes = revisions = reread = 0
    owners: dict[str, int] = {}
    lost: Counter[str] = Counter()
    for batch in _batches(sessions):
        for _, own_themes, own_revisions, keys, done in connection.rows(
            "forget/weigh_sessions", sessions=batch
        ):
            themes += own_themes
            revisions += own_revisions
            owners.update(keys)
            lost.update(uid for uid, _ in keys)
            reread += sum(uid not in gone for uid in done)
    return sum(owners[uid] == count for uid, count in lost.items()), themes, revisions, reread


def _batches(uids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(uids), _BATCH):
        yield list(uids[start : start + _BATCH])
