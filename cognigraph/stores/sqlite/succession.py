"""Which facts of a SQLite file are current: decided in the transaction that changes a slot."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from cognigraph.model.graph import Period
from cognigraph.states.slots import OBJECT_SIDE, FactForm, claim_of, family, in_one, replaceable
from cognigraph.states.succession import BY_RULES, Ruling, Standing
from cognigraph.stores.state_rows import Slot, StateRow, changed, on_both_sides
from cognigraph.stores.state_rows import standings_at as decided_at
from cognigraph.times import from_micros, to_micros

_BATCH = 5000
_WITHOUT_SLOT = """
    UPDATE triple SET status = 'current', superseded_by = NULL, superseded_at = NULL,
      valid_to = NULL, decided_by = NULL, reason = NULL
    WHERE space_id = ? AND slot IS NULL AND decided_by = ?"""
_AFTER_BAR = "}"
"""Sorts after every slot of a family: "|" is the character before it."""


class Touched:
    """Facts whose slots must be decided again before the transaction ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.ids: set[int] = set()
        self.slots: set[Slot[int]] = set()

    def add(self, ids: Collection[int]) -> None:
        """Note facts that change, and the slots they have now; call it before they do, too."""
        if not ids:
            return
        self.ids.update(ids)
        rows = self._connection.execute(
            """SELECT subject_id, object_id, slot, replaces FROM triple
               WHERE id IN (SELECT value FROM json_each(?)) AND slot IS NOT NULL""",
            (json.dumps([*ids]),),
        )
        for subject, object, slot, replaces in rows.fetchall():
            holder = object if slot.startswith(OBJECT_SIDE) else subject
            self.slots.update(on_both_sides(holder, slot))
            if replaces:
                self.slots.update(_of_family(self._connection, subject, slot))


def settle(connection: sqlite3.Connection, space_id: int, touched: Touched) -> None:
    """Decide every slot that was touched, and write what is new."""
    _name_slots(connection, touched.ids)
    touched.add(touched.ids)
    if not touched.ids and not touched.slots:
        return
    rows = _facts_of(connection, space_id, touched)
    rulings = _rulings(connection, space_id, [row.uid for row in rows])
    _write(connection, changed(rows, touched.slots, rulings))


def standings_at(
    connection: sqlite3.Connection, space_id: int, ids: Collection[int], as_of: datetime
) -> dict[str, Standing]:
    """What was known at ``as_of`` of facts and of all that shares a slot with them, by uid."""
    touched = Touched(connection)
    touched.add(ids)
    rows = _facts_of(connection, space_id, touched)
    rulings = _rulings(connection, space_id, [row.uid for row in rows])
    return decided_at(rows, touched.slots, rulings, as_of)


def settle_all(connection: sqlite3.Connection) -> None:
    """Decide every fact again: the table of slots, or the order of statements, has changed."""
    for (space_id,) in connection.execute("SELECT id FROM space").fetchall():
        ids = [
            id
            for (id,) in connection.execute("SELECT id FROM triple WHERE space_id = ?", (space_id,))
        ]
        for start in range(0, len(ids), _BATCH):
            _name_slots(connection, ids[start : start + _BATCH])
        connection.execute(_WITHOUT_SLOT, (space_id, BY_RULES))
        for start in range(0, len(ids), _BATCH):
            touched = Touched(connection)
            touched.add(ids[start : start + _BATCH])
            touched.ids.clear()
            settle(connection, space_id, touched)


def _facts_of(
    connection: sqlite3.Connection, space_id: int, touched: Touched
) -> list[StateRow[int]]:
    """All facts that decide about the slots, and those without a slot that a user ruled on."""
    return [
        *_rows(connection, f"{_IN_SLOT} UNION {_IN_OBJECT_SLOT} UNION {_REPLACING}",
               slots=json.dumps(sorted(touched.slots)),
               families=json.dumps(_families(touched.slots))),
        *_rows(connection, _RULED_ALONE, space=space_id, ids=json.dumps(sorted(touched.ids))),
    ]  # fmt: skip


def _name_slots(connection: sqlite3.Connection, ids: Collection[int]) -> None:
    """Store the slots of facts, which depend on how these are spelled, and what replaces others."""
    rows = connection.execute(
        """SELECT t.id, t.subject, s.type, t.relation, t.object, o.type, t.negated, t.slot,
                  t.replaces, EXISTS (SELECT 1 FROM evidence WHERE triple_id = t.id AND replaces)
           FROM triple t JOIN entity s ON s.id = t.raw_subject_id
           JOIN entity o ON o.id = t.raw_object_id
           WHERE t.id IN (SELECT value FROM json_each(?))""",
        (json.dumps([*ids]),),
    ).fetchall()
    new = []
    for id, subject, kind, relation, object, object_kind, negated, *known in rows:
        claim = claim_of(FactForm(subject, kind, relation, object, object_kind, bool(negated)))
        old, replaced, replaces = known
        slot = None if claim is None else claim.slot
        replaces = int(bool(replaces and slot is not None and replaceable(slot)))
        if (slot, replaces) != (old, replaced):
            new.append((slot, replaces, id))
    connection.executemany("UPDATE triple SET slot = ?, replaces = ? WHERE id = ?", new)


def _of_family(connection: sqlite3.Connection, subject: int, slot: str) -> Iterator[Slot[int]]:
    prefix = family(slot)
    rows = connection.execute(
        """SELECT DISTINCT slot FROM triple WHERE subject_id = ? AND slot IS NOT NULL
           AND slot >= ? AND slot < ?""",
        (subject, prefix, prefix[:-1] + _AFTER_BAR),
    )
    return ((subject, row[0]) for row in rows.fetchall())


def _families(slots: Iterable[Slot[int]]) -> list[tuple[int, str, str]]:
    prefixes = {(holder, family(slot)) for holder, slot in slots if "|" in slot}
    return [(holder, prefix, prefix[:-1] + _AFTER_BAR) for holder, prefix in sorted(prefixes)]


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


def _rows(connection: sqlite3.Connection, query: str, **parameters: Any) -> list[StateRow[int]]:
    rows = connection.execute(query, parameters).fetchall()
    keys = {row[0]: (row[_holder(row)], _shared(row[11])) for row in rows if row[11] is not None}
    counted = Counter(keys.values())
    shared = {id for id, key in keys.items() if counted[key] > 1}
    said = _said(connection, shared)
    return [_row(row, said.get(row[0])) for row in rows]


def _shared(slot: str) -> str:
    """What facts have in common that can end each other: their slot, or its family."""
    return family(slot) if "|" in slot else in_one(slot)


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
    id, uid, subject, subject_type, relation, object, object_type, negated, *rest = row
    canonical_subject, canonical_object, when, slot, _, _, replaces, first, last, *standing = rest
    status, valid_from, valid_to, by, at, decided_by, reason, earlier = standing
    return StateRow(
        key=id,
        uid=uid,
        form=FactForm(subject, subject_type, relation, object, object_type, bool(negated)),
        subject=canonical_subject,
        object=canonical_object,
        when=when,
        slot=slot,
        holder=row[_holder(row)],
        replaces=bool(replaces),
        said=tuple(map(from_micros, said or sorted({first, last}))),
        standing=Standing(
            status, _time(valid_from), _time(valid_to), by, _time(at), decided_by, reason,
            periods(earlier),
        ),
    )  # fmt: skip


def periods(text: str) -> tuple[Period, ...]:
    """The times in which a fact was true before, as they are stored."""
    if text == "[]":  # as nearly always
        return ()
    return tuple((from_micros(start), from_micros(end)) for start, end in json.loads(text))


def _time(micros: int | None) -> Any:
    return None if micros is None else from_micros(micros)


def _micros(time: Any) -> int | None:
    return None if time is None else to_micros(time)


def _rulings(connection: sqlite3.Connection, space_id: int, uids: Collection[str]) -> list[Ruling]:
    """What users said of some facts, or of facts that are folded into them."""
    rows = connection.execute(
        """SELECT r.kind, coalesce(h.uid, m.uid), r.recorded, coalesce(bh.uid, b.uid), r.at,
                  r.reason
           FROM state_ruling r JOIN triple m ON m.uid = r.uid
           LEFT JOIN triple h ON h.id = m.folded_into
           LEFT JOIN triple b ON b.uid = r.by_uid LEFT JOIN triple bh ON bh.id = b.folded_into
           WHERE r.space_id = ? AND coalesce(h.uid, m.uid) IN (SELECT value FROM json_each(?))""",
        (space_id, json.dumps([*uids])),
    )
    return [
        Ruling(kind, uid, recorded, by, _time(at), reason)
        for kind, uid, recorded, by, at, reason in rows
    ]


def _write(connection: sqlite3.Connection, standings: dict[int, Standing]) -> None:
    connection.executemany(
        """UPDATE triple SET status = ?, valid_from = ?, valid_to = ?, superseded_by = ?,
             superseded_at = ?, decided_by = ?, reason = ?, earlier = ? WHERE id = ?""",
        [
            (
                one.status, _micros(one.valid_from), _micros(one.valid_to), one.superseded_by,
                _micros(one.superseded_at), one.by, one.reason,
                json.dumps([(to_micros(start), to_micros(end)) for start, end in one.earlier]), id,
            )
            for id, one in standings.items()
        ],
    )  # fmt: skip
