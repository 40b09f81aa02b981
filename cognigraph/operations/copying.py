"""Copy whole spaces: to a file, from a file, and from one space to another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.ids import chunk_uid, entity_uid, message_uid, session_uid, theme_uid
from cognigraph.ingest.extraction import AlsoRead, Extraction, Extractor, Fact, Mention, Window
from cognigraph.ingest.queue.enricher import Enricher
from cognigraph.ingest.stated import read_by
from cognigraph.model import Message, StoredMessage, Summary, Theme, Written
from cognigraph.model.filters import MessageQuery
from cognigraph.new_file import new_file
from cognigraph.operations.adding import CleanMessage, clean_message, to_rows
from cognigraph.operations.forgetting import replace_text
from cognigraph.resolution.name_forms import UNSPELLED
from cognigraph.states.succession import Ruling
from cognigraph.stores.protocols import Store, import_runs
from cognigraph.stores.readings import (
    Decision,
    FactName,
    NamedRuling,
    Part,
    Reading,
    SessionReading,
)
from cognigraph.stores.records import EntityRow, InsertStatus, Placed
from cognigraph.text.terms import terms
from cognigraph.times import to_utc
from cognigraph.validation import MAX_COUNT, checked_name

_HEADER = b'{"kind": "export"'


def export(engine: Engine, space: str, path: Path, *, derived: bool) -> int:
    """Write a space to a new file; see :meth:`.Files.export`."""
    count = 0
    with new_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines(engine, space, derived=derived):
            count += line.startswith('{"kind": "message"')
            file.write(line)
    return count


def restore(engine: Engine, space: str, path: Path, by: str | None = None) -> int:
    """Read a space from a file; see :meth:`.Files.load`."""
    try:
        with path.open(encoding="utf-8") as file:
            return Import(engine, space, by).run(file)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not an export: it is not UTF-8") from error


def copy(engine: Engine, space: str, to: str) -> int:
    """Copy a space with all that was read out of it; return the number of messages."""
    return Import(engine, to).run(lines(engine, space, derived=True))


def is_export(path: str | Path) -> bool:
    """Whether a file begins as :func:`export` begins it."""
    try:
        with Path(path).expanduser().open("rb") as stream:
            return stream.read(len(_HEADER)) == _HEADER
    except (OSError, ValueError):
        return False


FORMAT = 1
_PAGE = 200


def lines(engine: Engine, space: str, *, derived: bool) -> Iterator[str]:
    """The lines of an export; they take memory for one session at most."""
    store, count = engine.store.housekeeping, 0
    yield _line("export", format=FORMAT, space=space, derived=derived)
    versioned, stated = store.versioned(space), store.stated(space)
    # Sessions that are not read to their end come last: an import reads the others first.
    for whole in (True, False) if derived else (None,):
        for session in _sessions(engine, space):
            reading = store.reading(space, session) if derived else None
            if reading is not None and reading.is_whole is not whole:
                continue
            for placed in _messages(engine, space, session):
                yield _message(engine, space, placed, versioned, reading, stated.get(placed.uid))
                count += 1
            yield _session(engine, space, session, reading)
    for decision in store.decisions(space):
        yield _line("decision", a=decision.a, b=decision.b, verdict=decision.verdict,
                    into=decision.into)  # fmt: skip
    if derived:
        for item in engine.store.graph.written(space):
            yield _line("written", version_of=item.chain, of_kind=item.kind, version=item.version,
                        at=item.at.isoformat(), text=item.text, title=item.title, steps=item.steps,
                        sources=item.sources)  # fmt: skip
    for ruling in engine.store.states.rulings(space):
        yield _ruling(ruling)
    for uid in store.forgotten(space):
        yield _line("forgotten", uid=uid)
    yield _line("end", messages=count)


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n"


def _sessions(engine: Engine, space: str) -> Iterator[str]:
    offset = 0
    while page := engine.store.graph.sessions(space, limit=_PAGE, offset=offset):
        yield from (session.id for session in page)
        offset += len(page)


def _messages(engine: Engine, space: str, session: str) -> Iterator[Placed]:
    after = None
    while page := engine.store.housekeeping.messages(
        space, MessageQuery(session=session, limit=_PAGE, after=after)
    ):
        yield from page
        after = page[-1].position


def _message(
    engine: Engine,
    space: str,
    placed: Placed,
    versioned: set[str],
    reading: SessionReading | None,
    stated: str | None,
) -> str:
    message = placed.message
    fields: dict[str, Any] = {
        "id": message.id,
        "session": message.session,
        "speaker": message.speaker,
        "at": message.at.isoformat(),
        "text": message.text,
        "role": message.role,
        "metadata": dict(message.metadata) or None,
        "tags": list(message.tags) or None,
        "raw": message.raw,
        "expires": None if message.expires is None else message.expires.isoformat(),
        "facts": None if stated is None else json.loads(stated),
        "written_by": message.written_by,
    }
    if placed.uid != chunk_uid(message_uid(space, message.session, message.id), 0):
        fields["anonymous"] = True
    if placed.uid in versioned:
        earlier = engine.store.housekeeping.versions(space, message.session, message.id)
        fields["versions"] = [[text, at.isoformat()] for text, at in earlier]
    is_read = stated is None or isinstance(fields["facts"], dict)  # not the words of one fact
    if reading is not None and reading.is_whole and is_read:
        fields["read"] = [_part(message, part, reading) for part in range(message.chunks)]
    return _line("message", **{name: value for name, value in fields.items() if value is not None})


def _part(message: StoredMessage, part: int, reading: SessionReading) -> dict[str, Any]:
    key: Part = message.id, part
    found = reading.parts.get(key, Reading())
    return {"mentions": found.mentions, "facts": found.facts}


def _ruling(ruling: NamedRuling) -> str:
    return _line(
        "ruling", verdict=ruling.kind, fact=astuple(ruling.fact),
        by=None if ruling.by is None else astuple(ruling.by),
        at=None if ruling.at is None else ruling.at.isoformat(), reason=ruling.reason,
        recorded=ruling.recorded,
    )  # fmt: skip


def _session(engine: Engine, space: str, session: str, reading: SessionReading | None) -> str:
    if reading is None or not reading.is_whole:
        return _line("session", id=session)
    notes = engine.store.housekeeping.notes(space, session)
    covered = sorted({uid for theme in notes.themes for uid in theme.covers})
    chunks = engine.store.search.chunks(space, covered)
    titles = {theme.uid: theme.title for theme in notes.themes}
    themes = [
        [theme.title, theme.summary, theme.reason,
         [[chunks[uid].message_id, chunks[uid].part] for uid in theme.covers if uid in chunks],
         [titles[uid] for uid in theme.derived_from if uid in titles]]
        for theme in notes.themes
    ]  # fmt: skip
    # Uids name the space. Those in the summariser's state are replaced when they are read.
    uids = [[chunk.message_id, chunk.part, uid] for uid, chunk in sorted(chunks.items())]
    return _line(
        "session", id=session, extractor=reading.extractor, version=notes.version,
        keys=notes.keys, themes=themes, state=notes.state, uids=uids,
        revisions=_revisions(engine, space, session),
    )  # fmt: skip


def _revisions(engine: Engine, space: str, session: str) -> list[list[Any]]:
    return [
        [summary.version, summary.at.isoformat(), summary.extractor, summary.keys,
         [[theme.title, theme.summary] for theme in summary.themes]]
        for summary in engine.store.graph.summaries(space, session)
    ]  # fmt: skip


_BATCH = 100
_FIELDS = ("session", "speaker", "at", "text", "role", "metadata", "tags", "raw", "expires")


class _Replay(Extractor):
    """An extractor that gives back what was read out of one session before."""

    also_reads: frozenset[AlsoRead] = frozenset({"tool", "stated", "summary"})

    def __init__(self, session: Mapping[str, Any], parts: dict[tuple[str, int], Any]) -> None:
        self.name = str(session["extractor"])
        self._session = session
        self._parts = parts
        self._uids: dict[tuple[str, int], str] = {}
        self._space = ""

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
        *_: str,
    ) -> Theme:  # fmt: skip
        """The theme; its uid, which earlier exports have too, is made from its title."""
        found = (self._uids.get((message, part)) for message, part in covers)
        origins = tuple(theme_uid(self._space, self._session["id"], source) for source in sources)
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
    by: str | None = None

    def __post_init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._batch: list[CleanMessage] = []
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
        self.engine.wake_worker()
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
        cleaned = clean_message(
            Message(**given, id=id),
            space=self.space,
            now=self.engine.clock(),
            zone=None,
            limit=MAX_COUNT,
            seen=self._seen,
            index=self.messages,
            facts=json.dumps(fields["facts"], ensure_ascii=False) if "facts" in fields else None,
            by=self._writer(fields),
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

    def _writer(self, fields: dict[str, Any]) -> str | None:
        """Who wrote a message: whoever loads the file, or without a name what the file says."""
        given = self.by or fields.get("written_by")
        return None if given is None else checked_name("written_by", given)

    def _replay_versions(self, fields: dict[str, Any], earlier: list[Any]) -> None:
        texts = [*(text for text, _ in earlier[1:]), fields["text"]]
        for text, (_, at) in zip(texts, earlier, strict=True):
            old = self.engine.store.graph.message(self.space, fields["id"], fields["session"])
            assert old is not None
            replace_text(self.engine, self.space, old, text, to_utc(at), by=self._writer(fields))

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
        self._parts = {}

    def _readable(self, session: str) -> dict[tuple[str, int], Any]:
        """What was read out of those chunks that the replay will be given."""
        uid = session_uid(self.space, session)
        lease = self.engine.store.queue.peek(uid, context=0, again=False)
        chunks = lease.chunks if lease else ()
        given = (chunks[index] for index in read_by(_Replay.also_reads, chunks))
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
        ends = sorted({end for decision in self._decisions for end in (decision.a, decision.b)})
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
