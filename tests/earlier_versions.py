"""What databases hold that earlier versions of cognigraph wrote: a sample of four messages."""

from __future__ import annotations

from datetime import UTC, datetime

from cognigraph import Memory, Space

NOW = datetime(2026, 7, 2, 9, tzinfo=UTC)
TEXTS = {
    "m1": "I live in Bergen.",
    "m2": "My sister Klara lives in Hamar.",
    "m3": "I moved to Oslo last week.",
    "m4": "Klara likes jazz.",
}
FACTS = {
    ("Ann lives in Bergen", "superseded", ("m1",)),
    ("Ann moved to Oslo", "current", ("m3",)),
    ("Klara lives in Hamar", "current", ("m2",)),
    ("Klara is Ben's sister", "current", ("m2",)),
}
OF_AN_OLDER_EXTRACTOR = {("Ben mentioned klara likes jazz", "current", ("m4",))}


def facts(space: Space) -> set[tuple[str, str, tuple[str, ...]]]:
    """Text, status and sources of all facts."""
    return {
        (fact.text, fact.status, tuple(source.id for source in fact.sources))
        for fact in space.facts()
    }


def holds_the_sample(memory: Memory, space: Space) -> None:
    """Check the messages, and what every version read out of them."""
    assert {message.id: message.text for message in space.messages()} == TEXTS
    assert facts(space) == FACTS | OF_AN_OLDER_EXTRACTOR
    assert (space.stats().sessions, space.stats().pending) == (2, 0)
    ann = next(entity for entity in space.entities() if entity.name == "Ann")
    assert (ann.triples, ann.mentions) == (2, 2)
    homes = space.search("Where does Ann live?", now=NOW)
    assert next(hit.id for hit in homes) == "m3"
    assert space.overview.sessions()[0].summary
    # Other tests on the same server leave messages that wait, imports and indexes unfinished.
    failing = {item.name for item in memory.admin.check() if not item.ok}
    assert failing <= {"imports", "vector indexes", "worker"}
    space.review.duplicates()  # reads the vectors of names


def goes_on(memory: Memory, space: Space) -> None:
    """Check that another statement supersedes what was read, and that a session can go.

    There is a log of it, and of nothing before; of the messages, the new one has who wrote it.
    """
    assert memory.admin.audit(space.name) == []
    space = memory.space(space.name, by="ann")
    space.add("I moved to Stavanger.", id="m5", session="s2", speaker="Ann", at=NOW)
    space.flush()
    status = {fact.object: fact.status for fact in space.facts("Ann", slot="home")}
    assert status == {"Bergen": "superseded", "Oslo": "superseded", "Stavanger": "current"}
    space.forget(session="s1")
    written = {message.id: message.written_by for message in space.messages()}
    assert written == {"m3": None, "m4": None, "m5": "ann"}
    space.update("m4", "Klara likes rock.", session="s2")
    changed = space.get("m4", "s2")
    assert changed is not None and changed.written_by == "ann"
    log = [(entry.action, entry.by) for entry in memory.admin.audit(space.name)]
    assert log == [("update", "ann"), ("forget", "ann")]
    assert [entry for entry in memory.admin.audit(None) if entry.space == space.name] == (
        memory.admin.audit(space.name)
    )


def holds_what_version_8_holds(memory: Memory, space: Space) -> None:
    """Check what only step 8 has: roles, versions, stated facts and forgotten messages."""
    assert facts(space) == FACTS | {
        ("Ann works at DNB", "current", ("f1",)),
        ("Ben owns kayak", "current", ("m5",)),
    }
    kayak = space.get("m5")
    assert kayak is not None
    assert (kayak.role, kayak.tags, dict(kayak.metadata)) == ("user", ("boats",), {"n": 1})
    assert [version.text for version in space.overview.versions("m4")] == [
        "Klara likes jazz.",
        "Klara likes rock.",
    ]
    (stated,) = space.facts("Ann", slot="work")
    assert (stated.is_stated, stated.sources[0].said_by) == (True, "crm")
    again = space.add("Ben has a secret.", id="m6", session="s3", speaker="Ben")
    assert again.forgotten == ("m6",)
    (home,) = space.history("Ann", "home")
    assert [triple.object for triple in home.triples] == ["Bergen", "Oslo"]
    assert all(item.ok for item in memory.admin.check())
