"""Read a space from the JSON lines of an export."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.ids import entity_uid, session_uid, theme_uid
from cognigraph.ingest.extraction import AlsoRead, Extraction, Fact, Mention, Window
from cognigraph.ingest.insert.prepare import Clean, clean, to_rows
from cognigraph.ingest.queue.enricher import Enricher
from cognigraph.ingest.stated import read_by
from cognigraph.model import Message, Summary, Theme, Written
from cognigraph.operations.exporting import FORMAT
from cognigraph.operations.updating import replace_text
from cognigraph.resolution.spelling import UNSPELLED
from cognigraph.states.succession import Ruling
from cognigraph.stores.protocols import Store, import_runs
from cognigraph.stores.readings import Decision, FactName, NamedRuling
from cognigraph.stores.records import EntityRow, InsertStatus
from cognigraph.text.terms import terms
from cognigraph.times import to_utc
from cognigraph.validation import MAX_COUNT

_BATCH = 100
_UID = re.compile(r"[0-9a-f]{32}")
_FIELDS = ("session", "speaker", "at", "text", "role", "metadata", "tags", "raw", "expires")


class _Replay:
    """An extractor that gives back what was read out of one session before."""

    also_reads: frozenset[AlsoRead] = frozenset({"tool", "stated", "summary"})

    def __init__(self, session: Mapping[str, Any], parts: dict[tuple[str, int], Any]) -> None:
        self._session = session
        self._parts = parts
        self._uids: dict[tuple[str, int], str] = {}
        self._space = ""

    @property
    def name(self) -> str:
        """The one that has read it."""
        return str(self._session["extractor"])

    def extract(self, window: Window) -> Extraction:
        """What was read out of the chunks; with the last of them, keys, themes and state."""
        self._space = window.space
        mentions: list[Mention] = []
        facts: list[Fact] = []
        for index, chunk in enumerate(window.chunks):
            self._uids[chunk.message_id, chunk.part] = chunk.uid
            part = self._parts.pop((chunk.message_id, chunk.part), {"mentions": (), "facts": ()})
            for name, type, aliases in part["mentions"]:
                mentions.append(Mention(name, type, (index,), tuple(aliases)))
            for subject, type, relation, object, other, *rest in part["facts"]:
                facts.append(Fact(subject, type, relation, object, other, (index,), *rest))
        found = Extraction(tuple(mentions), tuple(facts))
        return found if self._parts else self._last(found)

    def _last(self, found: Extraction) -> Extraction:
        session = self._session
        is_noted = session["version"] > 0
        return Extraction(
            found.mentions,
            found.facts,
            keys=tuple((name, weight) for name, weight in session["keys"]) if is_noted else None,
            themes=tuple(self._theme(*theme) for theme in session["themes"]) if is_noted else None,
            state=self._state(),
        )

    def _theme(
        self, title: str, summary: str, reason: str = "", covers: Any = (), sources: Any = (),
        uid: str = "",
    ) -> Theme:  # fmt: skip
        """The theme without its ``uid``, which may be of another space (see Import)."""
        found = (self._uids.get((message, part)) for message, part in covers)
        origins = tuple(theme_uid(self._space, self._session["id"], one) for one in sources)
        return Theme(title, summary, "", tuple(uid for uid in found if uid), reason, origins)

    def _state(self) -> str:
        """The summariser's state with the uids that the chunks have in this space."""
        state = str(self._session["state"])
        for message, part, uid in self._session.get("uids", ()):
            state = state.replace(uid, self._uids.get((message, part), uid))
        return state


@dataclass
class Import:
    """One run: takes the lines of an export into a space that holds nothing."""

    engine: Engine
    space: str

    def __post_init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._batch: list[Clean] = []
        self._parts: dict[tuple[str, int], Any] = {}
        self._decisions: list[Decision] = []
        self._rulings: list[Ruling] = []
        self._forgotten: list[str] = []
        self._written: list[Written] = []
        self._source = ""
        self._ended = False
        self._importer = ""
        self.messages = 0

    def run(self, lines: Iterable[str]) -> int:
        """Take all lines; return the number of messages.

        Raises:
            ConfigurationError: the space holds messages, or a line is not of an export.

        After an error, the space is as empty as before. What a process that was killed has left is
        deleted when the import is repeated; until then, nothing else can be added to the space.
        """
        store = self.engine.store.housekeeping
        token = store.begin_import(self.space)
        if token is None:
            raise ConfigurationError(
                f"the space {self.space!r} holds messages; import into one that holds none"
            )
        self._importer = token
        try:
            with self.engine.without_worker():
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        self._take(line, number)
            if not self._ended:
                raise ConfigurationError("the export is cut off: its last line is missing")
            if not store.end_import(self.space, token):
                raise StoreError(import_runs(self.space, token))
        except BaseException:
            store.undo_import(self.space, token)
            raise
        self.engine.written()
        return self.messages

    def _take(self, line: str, number: int) -> None:
        try:
            fields = json.loads(line)
            kind = fields.pop("kind")
            take = _TAKES[kind] if self._source else {"export": Import._header}[kind]
            take(self, fields)
        except ConfigurationError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigurationError(f"line {number} is not a line of an export") from error

    def _header(self, fields: dict[str, Any]) -> None:
        if fields["format"] != FORMAT:
            raise ConfigurationError(
                f"the export has format {fields['format']}, this cognigraph reads {FORMAT}; "
                "upgrade cognigraph-memory"
            )
        self._source = fields["space"]

    def _message(self, fields: dict[str, Any]) -> None:
        given = {name: fields[name] for name in _FIELDS if name in fields}
        earlier = fields.get("versions", [])
        if earlier:
            given["text"] = earlier[0][0]
        id = None if fields.get("anonymous") else fields["id"]
        cleaned = clean(
            Message(**given, id=id),
            space=self.space,
            now=self.engine.clock(),
            zone=None,
            limit=MAX_COUNT,
            seen=self._seen,
            index=self.messages,
            facts=json.dumps(fields["facts"], ensure_ascii=False) if "facts" in fields else None,
        )
        # A generated id is made from the name of the space, and stays in a space of another name.
        self._batch.append(replace(cleaned, id=fields["id"]))
        self.messages += 1
        for part, read in enumerate(fields.get("read", ())):
            self._parts[fields["id"], part] = read
        if earlier:
            self._store()
            self._replay_versions(fields, earlier)
        elif len(self._batch) == _BATCH:
            self._store()

    def _replay_versions(self, fields: dict[str, Any], earlier: list[Any]) -> None:
        texts = [*(text for text, _ in earlier[1:]), fields["text"]]
        for text, (_, at) in zip(texts, earlier, strict=True):
            old = self.engine.store.graph.message(self.space, fields["id"], fields["session"])
            assert old is not None
            replace_text(self.engine, self.space, old, text, to_utc(at))

    def _store(self) -> None:
        engine, batch, self._batch = self.engine, self._batch, []

        def insert(store: Store, embedder: CheckedEmbedder) -> list[InsertStatus]:
            rows = to_rows(batch, self.space, engine.settings.insert, embedder)
            return store.messages.insert(self.space, rows, self._importer) if rows else []

        if set(engine.use(insert)) - {"new"}:
            raise ConfigurationError("the export has a message twice, or one that was forgotten")

    def _session(self, fields: dict[str, Any]) -> None:
        self._store()
        if "extractor" in fields:
            engine = self.engine
            replay = _Replay(fields, self._readable(fields["id"]))
            settings = engine.settings.enrich
            Enricher(engine.store, engine.embedder, replay, settings, engine.clock).drain(
                self.space
            )
            self._revisions(fields)
            self._theme_uids(fields)
        self._parts = {}

    def _readable(self, session: str) -> dict[tuple[str, int], Any]:
        """What was read out of those chunks that the replay will be given."""
        uid = session_uid(self.space, session)
        lease = self.engine.store.queue.peek(uid, context=0, again=False)
        chunks = lease.chunks if lease else ()
        given = (chunks[index] for index in read_by(_Replay, chunks))
        return {
            key: self._parts[key]
            for key in ((chunk.message_id, chunk.part) for chunk in given)
            if key in self._parts
        }

    def _revisions(self, fields: dict[str, Any]) -> None:
        found = [
            Summary(fields["id"], version, to_utc(at), extractor, tuple(keys),
                    tuple(Theme(*theme) for theme in themes))
            for version, at, extractor, keys, themes in fields.get("revisions", ())
        ]  # fmt: skip
        if found:
            self.engine.store.housekeeping.keep_revisions(
                self.space, fields["id"], fields["version"], found
            )

    def _theme_uids(self, fields: dict[str, Any]) -> None:
        """Keep the uids of themes, which were made from their first titles.

        In a space of another name uids differ, because they are made from its name as well.
        """
        if self._source != self.space:
            return
        known = {theme[0]: theme[5] for theme in fields["themes"] if len(theme) > 5}
        kept = {title: uid for title, uid in known.items() if _UID.fullmatch(uid)}
        if len(set(kept.values())) == len(kept):
            self.engine.store.housekeeping.keep_theme_uids(self.space, fields["id"], kept)

    def _decision(self, fields: dict[str, Any]) -> None:
        a, b, into = (tuple(fields[name]) for name in ("a", "b", "into"))
        self._decisions.append(Decision(a, b, fields["verdict"], into))

    def _ruling(self, fields: dict[str, Any]) -> None:
        by, at = fields["by"], fields["at"]
        named = NamedRuling(
            fields["verdict"], _fact(fields["fact"]), None if by is None else _fact(by),
            None if at is None else to_utc(at), fields["reason"], fields["recorded"],
        )  # fmt: skip
        self._rulings.append(named.ruling(self.space))

    def _forget(self, fields: dict[str, Any]) -> None:
        self._forgotten.append(fields["uid"])

    def _version(self, fields: dict[str, Any]) -> None:
        self._written.append(
            Written(
                fields["of_kind"], fields["version_of"], fields["version"], to_utc(fields["at"]),
                fields["text"], fields["title"], tuple(fields["steps"]),
                tuple((session, message) for session, message in fields["sources"]),
            )
        )  # fmt: skip

    def _end(self, fields: dict[str, Any]) -> None:
        if fields["messages"] != self.messages:
            raise ConfigurationError(
                f"the export has {self.messages} messages instead of {fields['messages']}"
            )
        self._ended = True
        store = self.engine.store.housekeeping
        if self._decisions:
            store.decide(self.space, self._entities(), self._decisions)
        if self._written:
            store.restore_written(self.space, self._written)
        if self._rulings:
            self.engine.store.states.keep(self.space, self._rulings)
        if self._forgotten and self._source == self.space:  # the hashes name the space
            store.remember(self.space, self._forgotten)

    def _entities(self) -> list[EntityRow]:
        ends = sorted({end for one in self._decisions for end in (one.a, one.b)})
        vectors = self.engine.embedder.embed_names([name for name, _ in ends])
        return [
            EntityRow(
                entity_uid(self.space, name, type), name, type, " ".join(terms(name)),
                UNSPELLED, vector,
            )
            for (name, type), vector in zip(ends, vectors, strict=True)
        ]  # fmt: skip


def _fact(row: list[Any]) -> FactName:
    subject, relation, object, when, negated = row
    return FactName(tuple(subject), relation, tuple(object), when, negated)


_TAKES = {
    "message": Import._message,
    "session": Import._session,
    "decision": Import._decision,
    "ruling": Import._ruling,
    "forgotten": Import._forget,
    "written": Import._version,
    "end": Import._end,
}
