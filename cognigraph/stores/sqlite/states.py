"""Which facts are current: decided in the transaction that changes a slot, or what users say."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from cognigraph.errors import NotFoundError
from cognigraph.model import Triple
from cognigraph.states.slots import OBJECT_SIDE, FactForm, base_slot, family
from cognigraph.states.succession import BY_RULES, NewRuling, Ruling, Standing
from cognigraph.stores import state_rows
from cognigraph.stores.model_rows import state_row
from cognigraph.stores.readings import NamedRuling, ruling_of
from cognigraph.stores.records import ruling_entry
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.messages import bump
from cognigraph.stores.sqlite.rows import add_audit_entry, periods, space_id
from cognigraph.stores.sqlite.search import contested_facts, slot_facts
from cognigraph.stores.state_rows import Slot, SlotForm, StateRow
from cognigraph.times import micros, moment, to_micros

_BATCH = 5000
_AFTER_BAR = "}"
"""Sorts after every slot of a family: "|" is the character before it."""

_WITHOUT_SLOT = """
UPDATE triple SET status = 'current', superseded_by = NULL, superseded_at = NULL,
  valid_to = NULL, decided_by = NULL, reason = NULL
WHERE space_id = ? AND slot IS NULL AND decided_by = ?"""

_SLOTS = """
SELECT subject_id, object_id, slot, replaces FROM triple
WHERE id IN (SELECT value FROM json_each(?)) AND slot IS NOT NULL"""
_FAMILY = """
SELECT DISTINCT slot FROM triple
WHERE subject_id = ? AND slot IS NOT NULL AND slot >= ? AND slot < ?"""
_FORMS = """
SELECT t.id, t.subject, s.type, t.relation, t.object, o.type, t.negated, t.slot, t.replaces,
       EXISTS (SELECT 1 FROM evidence WHERE triple_id = t.id AND replaces)
FROM triple t JOIN entity s ON s.id = t.raw_subject_id JOIN entity o ON o.id = t.raw_object_id
WHERE t.id IN (SELECT value FROM json_each(?))"""
_COLUMNS = """
SELECT t.id, t.uid, t.subject, rs.type, t.relation, t.object, ro.type, t.negated, s.name, o.name,
       t.when_text, t.slot, t.subject_id, t.object_id, t.replaces, t.first_observed,
       t.last_observed, t.status, t.valid_from, t.valid_to, t.superseded_by, t.superseded_at,
       t.decided_by, t.reason, t.earlier"""
_ENDS = """
JOIN entity rs ON rs.id = t.raw_subject_id JOIN entity ro ON ro.id = t.raw_object_id
JOIN entity s ON s.id = t.subject_id JOIN entity o ON o.id = t.object_id"""
_IN_SLOT = f"""{_COLUMNS} FROM json_each(:slots) p CROSS JOIN triple t
ON t.subject_id = p.value ->> 0 AND t.slot = p.value ->> 1 AND t.slot IS NOT NULL {_ENDS}
WHERE t.folded_into IS NULL AND NOT (t.slot >= '<' AND t.slot < '=')"""
_IN_OBJECT_SLOT = f"""{_COLUMNS} FROM json_each(:slots) p CROSS JOIN triple t
ON t.object_id = p.value ->> 0 AND t.slot = p.value ->> 1 AND t.slot >= '<' AND t.slot < '='
{_ENDS} WHERE t.folded_into IS NULL"""
_REPLACING = f"""{_COLUMNS} FROM json_each(:families) p CROSS JOIN triple t
ON t.subject_id = p.value ->> 0 AND t.slot >= p.value ->> 1 AND t.slot < p.value ->> 2
AND t.replaces = 1 {_ENDS} WHERE t.folded_into IS NULL"""
_RULED_ALONE = f"""{_COLUMNS} FROM state_ruling r JOIN triple m ON m.uid = r.uid
JOIN triple t ON t.id = coalesce(m.folded_into, m.id) {_ENDS}
WHERE r.space_id = :space AND t.slot IS NULL AND t.id IN (SELECT value FROM json_each(:ids))"""
_RULINGS = """
SELECT r.kind, coalesce(h.uid, m.uid), r.recorded, coalesce(bh.uid, b.uid), r.at, r.reason
FROM state_ruling r JOIN triple m ON m.uid = r.uid LEFT JOIN triple h ON h.id = m.folded_into
LEFT JOIN triple b ON b.uid = r.by_uid LEFT JOIN triple bh ON bh.id = b.folded_into
WHERE r.space_id = ? AND coalesce(h.uid, m.uid) IN (SELECT value FROM json_each(?))"""
_ALL_RULINGS = """
SELECT r.kind, r.at, r.recorded, r.reason, s.name, s.type, t.relation, o.name, o.type, t.when_text,
       t.negated, bs.name, bs.type, b.relation, bo.name, bo.type, b.when_text, b.negated
FROM state_ruling r JOIN triple t ON t.uid = r.uid
JOIN entity s ON s.id = t.raw_subject_id JOIN entity o ON o.id = t.raw_object_id
LEFT JOIN triple b ON b.uid = r.by_uid LEFT JOIN entity bs ON bs.id = b.raw_subject_id
LEFT JOIN entity bo ON bo.id = b.raw_object_id
WHERE r.space_id = ? ORDER BY r.recorded"""
_WRITE = """
UPDATE triple SET status = ?, valid_from = ?, valid_to = ?, superseded_by = ?, superseded_at = ?,
  decided_by = ?, reason = ?, earlier = ? WHERE id = ?"""


class SQLiteStates:
    """See :class:`cognigraph.stores.protocols.StateStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def rule(self, space: str, *rulings: NewRuling, by: str | None = None) -> None:
        with self._file.write() as connection:
            id = space_id(connection, space)
            facts = [_fact_id(connection, id, ruling.uid) for ruling in rulings]
            assert id is not None
            now = self._file.clock()
            _record_next(connection, id, rulings, to_micros(now))
            for ruling in rulings:
                add_audit_entry(connection, ruling_entry(ruling, now, space, by))
            touched = TouchedFacts(connection, id)
            touched.add(facts)
            touched.decide()

    def rulings(self, space: str) -> list[NamedRuling]:
        return [ruling_of(row) for row in self._file.select(space, _ALL_RULINGS)]

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        with self._file.write() as connection:
            id, _ = bump(connection, space)
            _record(connection, id, [(ruling, ruling.order) for ruling in rulings])
            touched = TouchedFacts(connection, id)
            touched.add_uids([ruling.uid for ruling in rulings])
            touched.decide()

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, Standing]:
            touched = TouchedFacts(connection, space_id)
            touched.add_uids(uids, folded=False)
            return touched.standings_at(as_of)

        return self._file.query(space, {}, work)

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        return self._file.query(space, [], lambda c, s: slot_facts(c, s, entity))

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        return self._file.query(space, [], lambda c, s: contested_facts(c, s, limit))


def _fact_id(connection: sqlite3.Connection, space_id: int | None, uid: str) -> int:
    row = connection.execute(
        "SELECT coalesce(folded_into, id) FROM triple WHERE uid = ? AND space_id = ?",
        (uid, space_id),
    ).fetchone()
    if row is None:
        raise NotFoundError(f"there is no triple with the uid {uid!r}")
    return int(row[0])


def _record(
    connection: sqlite3.Connection, space_id: int, rulings: Iterable[tuple[NewRuling | Ruling, int]]
) -> None:
    """Record rulings, each with its order; a later word takes the place of an earlier one."""
    connection.executemany(
        "INSERT OR REPLACE INTO state_ruling VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (space_id, ruling.uid, ruling.kind, ruling.by, micros(ruling.at), ruling.reason, order)
            for ruling, order in rulings
        ],
    )


def _record_next(
    connection: sqlite3.Connection, space_id: int, rulings: Iterable[NewRuling], now: int
) -> None:
    """Record rulings after all that there are."""
    (last,) = connection.execute(
        "SELECT coalesce(max(recorded), 0) FROM state_ruling WHERE space_id = ?", (space_id,)
    ).fetchone()
    first = max(now, last + 1)
    _record(
        connection, space_id, [(ruling, first + number) for number, ruling in enumerate(rulings)]
    )


def rule_unruled(
    connection: sqlite3.Connection, space_id: int, rulings: Sequence[NewRuling], now: int
) -> list[str]:
    """Record rulings on facts that exist and have none; returns the uids of these facts."""
    free = {
        uid
        for (uid,) in connection.execute(
            """SELECT t.uid FROM json_each(?) j JOIN triple t ON t.uid = j.value
               WHERE t.space_id = ? AND t.uid NOT IN (SELECT uid FROM state_ruling)""",
            (json.dumps([ruling.uid for ruling in rulings]), space_id),
        )
    }
    _record_next(connection, space_id, [item for item in rulings if item.uid in free], now)
    return sorted(free)


class TouchedFacts(state_rows.TouchedFacts[int]):
    """Facts of a space whose slots must be decided again before the transaction ends."""

    def __init__(self, connection: sqlite3.Connection, space_id: int) -> None:
        super().__init__()
        self._connection = connection
        self._space_id = space_id

    def add_uids(self, uids: Iterable[str], *, folded: bool = True) -> None:
        """As :meth:`add`, of uids; a duplicate stands for the fact that it is folded into."""
        id = "coalesce(folded_into, id)" if folded else "id"
        rows = self._connection.execute(
            f"""SELECT {id} FROM triple
                WHERE uid IN (SELECT value FROM json_each(?)) AND +space_id = ?""",
            (json.dumps([*uids]), self._space_id),
        )
        self.add([id for (id,) in rows.fetchall()])

    def _read_slots(self, keys: Collection[int]) -> Iterator[tuple[int, str, bool]]:
        rows = self._connection.execute(_SLOTS, (json.dumps([*keys]),)).fetchall()
        for subject, object, slot, replaces in rows:
            yield object if slot.startswith(OBJECT_SIDE) else subject, slot, bool(replaces)

    def _slots_of_families(self, families: Collection[Slot[int]]) -> Iterator[Slot[int]]:
        for subject, prefix in families:
            bounds = subject, prefix, prefix[:-1] + _AFTER_BAR
            for (slot,) in self._connection.execute(_FAMILY, bounds).fetchall():
                yield subject, slot

    def _read_forms(self, keys: Collection[int]) -> list[SlotForm[int]]:
        rows = self._connection.execute(_FORMS, (json.dumps([*keys]),)).fetchall()
        return [
            SlotForm(
                id, FactForm(subject, type, relation, object, other, bool(negated)), slot,
                bool(replaces), bool(claims),
            )
            for id, subject, type, relation, object, other, negated, slot, replaces, claims in rows
        ]  # fmt: skip

    def _write_slots(self, forms: Sequence[SlotForm[int]]) -> None:
        self._connection.executemany(
            "UPDATE triple SET slot = ?, replaces = ? WHERE id = ?",
            [(form.slot, form.replaces, form.key) for form in forms],
        )

    def _read_facts(self) -> tuple[list[StateRow[int]], list[Ruling]]:
        if not self.keys and not self.slots:
            return [], []
        families = [(holder, own, own[:-1] + _AFTER_BAR) for holder, own in self.families]
        rows = [
            *_rows(self._connection, f"{_IN_SLOT} UNION {_IN_OBJECT_SLOT} UNION {_REPLACING}",
                   slots=json.dumps(sorted(self.slots)), families=json.dumps(families)),
            *_rows(self._connection, _RULED_ALONE, space=self._space_id,
                   ids=json.dumps(sorted(self.keys))),
        ]  # fmt: skip
        rulings = self._connection.execute(
            _RULINGS, (self._space_id, json.dumps([row.uid for row in rows]))
        )
        return rows, [
            Ruling(kind, uid, recorded, by, moment(at), reason)
            for kind, uid, recorded, by, at, reason in rulings
        ]

    def _write(self, standings: Mapping[int, Standing]) -> None:
        self._connection.executemany(
            _WRITE,
            [
                (
                    new.status, micros(new.valid_from), micros(new.valid_to), new.superseded_by,
                    micros(new.superseded_at), new.by, new.reason,
                    json.dumps([(to_micros(start), to_micros(end)) for start, end in new.earlier]),
                    id,
                )
                for id, new in standings.items()
            ],
        )  # fmt: skip


def _rows(connection: sqlite3.Connection, query: str, **parameters: Any) -> list[StateRow[int]]:
    rows = connection.execute(query, parameters).fetchall()
    keys = {row[0]: (row[_holder(row)], _shared(row[11])) for row in rows if row[11] is not None}
    counted = Counter(keys.values())
    shared = {id for id, key in keys.items() if counted[key] > 1}
    said = _said(connection, shared)
    return [_row(row, said.get(row[0])) for row in rows]


def _shared(slot: str) -> str:
    """What facts have in common that can end each other: their slot, or its family."""
    return family(slot) if "|" in slot else base_slot(slot)


def _holder(row: tuple[Any, ...]) -> int:
    return 13 if row[11] is not None and row[11].startswith(OBJECT_SIDE) else 12


def _said(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, list[int]]:
    """When each fact was said. One that has its slot alone needs only the first and the last."""
    found: dict[int, list[int]] = {}
    for id, at in connection.execute(
        """SELECT DISTINCT triple_id, observed_at FROM evidence
           WHERE triple_id IN (SELECT value FROM json_each(?))""",
        (json.dumps(sorted(ids)),),
    ):
        found.setdefault(id, []).append(at)
    return found


def _row(row: tuple[Any, ...], said: list[int] | None) -> StateRow[int]:
    *fact, slot, _, _, replaces, first, last = row[1:17]
    *standing, earlier = row[17:]
    return state_row(
        row[0], row[_holder(row)], (*fact, slot, replaces, *standing), said or {first, last},
        periods(earlier),
    )  # fmt: skip


def decide_all(connection: sqlite3.Connection) -> None:
    """Decide every fact again: the table of slots, or the order of statements, has changed."""
    for (space,) in connection.execute("SELECT id FROM space").fetchall():
        rows = connection.execute("SELECT id FROM triple WHERE space_id = ?", (space,))
        ids = [id for (id,) in rows.fetchall()]
        batches = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
        for batch in batches:  # all slots are to be named before any is decided
            TouchedFacts(connection, space).name_slots(batch)
        connection.execute(_WITHOUT_SLOT, (space, BY_RULES))
        for batch in batches:
            touched = TouchedFacts(connection, space)
            touched.add(batch)
            touched.keys.clear()
            touched.decide()
