"""Whole spaces are removed, copied, exported and imported, on every store."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from cognigraph import ConfigurationError, Memory, Message, StoreError
from cognigraph.operations.adding import clean_message
from cognigraph.operations.copying import Import
from cognigraph.stores.records import Derivation
from tests.cases import first_on_neo4j
from tests.contract.test_enrichment import claim
from tests.contract.test_forget import TALK, at, everything_shown, tell
from tests.contract.test_redo import graph


@pytest.mark.slow
def test_a_space_is_removed_with_all_that_it_held(open_memory, space_name):
    memory, other = open_memory(extractor="rules"), open_memory(extractor="rules")
    space, neighbour = memory.space(space_name), memory.space(space_name + "-b")
    tell(space)
    tell(neighbour)
    before = graph(neighbour)
    space.review.merge("Zebulon", into="Oslo", into_type="location")
    space.update("m0", "I moved to Hamar.")
    space.forget(message="m4")
    assert other.space(space_name).search("Zebulon", now=at(60)).hits
    memory.admin.delete_space(space_name)
    assert space_name not in memory.spaces() and space_name + "-b" in memory.spaces()
    assert graph(neighbour) == before
    assert "Zebulon" not in everything_shown(space)
    assert space.cypher("MATCH (n) RETURN n", limit=1000) == []
    assert space.stats().messages == space.stats().entities == space.stats().keys == 0
    assert other.space(space_name).search("Zebulon", now=at(60)).hits == ()
    memory.admin.delete_space(space_name)


@pytest.mark.slow
def test_a_removed_space_begins_anew(open_memory, space_name):
    memory, other = open_memory(extractor="rules"), open_memory(extractor="rules")
    space = memory.space(space_name)
    space.add("Anna likes windsurfing.", id="m0", session="s", at=at(0))
    space.forget(message="m0")
    space.add("Anna likes kayaks.", id="m1", session="s", at=at(1))
    assert other.space(space_name).search("kayaks", now=at(9)).hits[0].id == "m1"
    memory.admin.delete_space(space_name)
    added = space.add("I like tea.", id="m0", session="s", at=at(0), speaker="Anna")
    assert added.new == ("m0",)
    hits = other.space(space_name).search("kayaks", now=at(9)).hits
    assert [hit.id for hit in hits] in ([], ["m0"])
    assert other.space(space_name).search("tea", now=at(9)).hits[0].text == "I like tea."
    space.flush()
    texts = {t.text for t in space.facts()}
    assert "Anna likes tea" in texts and not any("kayaks" in text for text in texts)


def test_a_worker_brings_nothing_back_into_a_removed_space(open_memory, space_name, clock):
    memory = open_memory()
    memory.space(space_name).add("Ann likes tea.", id="m0", session="s", at=at(0))
    lease = claim(memory, clock, space_name)
    memory.admin.delete_space(space_name)
    queue = memory._engine.store.queue
    assert not queue.complete(lease, Derivation("scripted-1"))
    assert not queue.release(lease)
    assert memory.space(space_name).stats().messages == 0
    assert space_name not in memory.spaces()


@pytest.mark.slow
def test_the_last_space_of_a_file_may_be_removed(tmp_path):
    path = tmp_path / "m.db"
    with Memory(path, enrich="manual") as memory:
        tell(memory)
        memory.admin.delete_space("default")
    assert b"Zebulon" not in path.read_bytes()
    with Memory(path, enrich="manual") as memory:
        assert memory.spaces() == []
        memory.add("New.", id="m0", at=at(0))
        assert memory.spaces() == ["default"]


@pytest.mark.slow
def test_a_backup_is_made_while_the_memory_is_in_use(location, open_memory, tmp_path):
    memory = open_memory(extractor="rules")
    copy = tmp_path / "copy.db"
    if "auth" in location:
        with pytest.raises(StoreError, match="neo4j-admin"):
            memory.admin.backup(copy)
        assert not copy.exists()
        return
    tell(memory)
    memory.admin.backup(copy)
    memory.add("Later.", id="later", at=at(50))
    with pytest.raises(StoreError, match="exists already"):
        memory.admin.backup(copy)
    with pytest.raises(StoreError, match="cannot write"):
        memory.admin.backup(tmp_path / "nowhere" / "copy.db")
    assert not (tmp_path / "copy.db-wal").exists()
    with Memory(copy, enrich="manual") as opened:
        assert opened.stats().messages == len(TALK)
        assert graph(opened) == graph_without(memory, "later")


def graph_without(memory, id):
    memory.forget(message=id)
    return graph(memory)


def enriched(space):
    """A space with all that an export has to keep."""
    tell(space)
    space.update("n0", "Klara Quist lives in Bodo.")
    space.update("n0", "Klara Quist lives in Bergen.")
    space.add("Without an id.", session="t", speaker="Ben", at=at(30), tags=["x", "y"])
    space.add("Without an id.", session="t", speaker="Ben", at=at(31), metadata={"a": [1]})
    long = " ".join(f"Sentence number {number} is here." for number in range(600))
    space.add(long, id="long", session="v", speaker="Ann", at=at(32))
    space.forget(message="m4")
    space.flush()
    space.add("I sing.", session="v", speaker="Ann", at=at(33), expires=at(90))
    space.add_fact("Ann", "uses", "Spotify", at=at(40), source="crm")
    space.add_fact("Ann", "uses", "Tidal", at=at(41), replaces=True, valid_to="2030")
    space.add_fact("Ann", "likes", "jazz", at=at(42))
    space.add_fact("Ann", "likes", "rock", at=at(43), tags=["music"])
    space.add_fact("Ann", "likes", "folk", at=at(44))
    space.flush()
    space.review.supersede(the(space, "jazz"), the(space, "rock"), at=at(60), reason="she grew up")
    space.review.retract(the(space, "folk"), reason="a joke")
    space.review.restore(the(space, "Spotify"))
    space.review.merge("Stavanger", into="Oslo")
    space.review.split("Equinor", apart_from="Telenor")
    return space


def the(space, object):
    (found,) = (triple for triple in space.facts(object) if triple.object == object)
    return found


def standing(space):
    """All that is known of each fact, without uids."""
    triples = space.facts(limit=1000)
    texts = {triple.uid: triple.text for triple in triples}
    return sorted(
        (
            replace(triple, uid="", superseded_by=texts.get(triple.superseded_by or ""))
            for triple in triples
        ),
        key=repr,
    )


def revisions(space):
    return {
        session.id: (session.version, space.overview.summaries(session.id))
        for session in space.overview.sessions()
    }


def shown(space):
    everything = {name: value for name, value in graph(space).items() if name != "stats"}
    # Neo4j has a MENTIONS for each of the merged names, the view of a SQLite file one for all.
    everything["mentions"] = sorted(set(everything["mentions"]))
    everything["messages"] = [
        (message, space.overview.versions(message.id, message.session))
        for message in space.messages(limit=1000)
    ]
    everything["counts"] = space.stats().chunks, space.stats().done, space.stats().pending
    everything["standing"] = standing(space)
    everything["aliases"] = sorted((e.name, e.aliases) for e in space.entities(limit=1000))
    return everything


@pytest.mark.slow
@pytest.mark.parametrize("derived", first_on_neo4j([True, False]))
def test_a_space_goes_to_the_other_store_and_back(
    open_memory, space_name, tmp_path, derived, extractor
):
    """From this store to a SQLite file, and from there back into this store."""
    memory = open_memory(extractor="rules")
    space = enriched(memory.space(space_name))
    expected, versions = shown(space), revisions(space)
    assert {item.status for item in expected["standing"]} == {"current", "superseded", "retracted"}
    assert max(version for version, _ in versions.values()) > 1
    count = space.files.export(tmp_path / "one.jsonl", derived=derived)
    assert count == len(TALK) + 8
    # An extractor that finds nothing: what is there afterwards came from the file.
    reader = extractor if derived else "rules"
    with Memory(tmp_path / "between.db", enrich="manual", extractor=reader) as between:
        other = between.space(space_name)
        assert other.files.load(tmp_path / "one.jsonl") == count
        other.flush()
        assert shown(other) == expected
        assert not derived or revisions(other) == versions
        assert other.files.export(tmp_path / "two.jsonl", derived=derived) == count
    back = memory.space(space_name + "-back")
    assert back.files.load(tmp_path / "two.jsonl") == count
    back.flush()
    assert shown(back) == expected
    assert not derived or revisions(back) == versions
    assert back.add("Without an id.", session="t", speaker="Ben", at=at(31)).new == ()
    memory.admin.delete_space(space_name)
    assert space.files.load(tmp_path / "two.jsonl") == count
    again = space.add("I like kayaks.", id="m4", session="s", speaker="Ben", at=at(4))
    assert again.forgotten == ("m4",)


@pytest.mark.slow
def test_an_export_does_not_depend_on_what_other_spaces_hold(open_memory, space_name, tmp_path):
    memory = open_memory(extractor="rules")
    space, other = memory.space(space_name), memory.space(space_name + "-other")
    exports = []
    for number in range(2):
        for n, text in enumerate(
            ("I live in Bergen.", "I like jazz.", "I work at DNB.", "I sing.")
        ):
            for m in range(3 * number):
                other.add(f"Zoe has {n + m} boats.", id=f"{n}-{m}", session="z", at=at(0))
            # Two messages at a time, the second of which is read later than the first.
            space.add(text, id=f"m{n}", session="s", speaker="Ann", at=at(n // 2))
            space.flush()
        space.files.export(tmp_path / f"{number}.jsonl", derived=True)
        exports.append((tmp_path / f"{number}.jsonl").read_text("utf-8").splitlines())
        memory.admin.delete_space(space_name)
    assert len(exports[0]) > 5
    assert exports[0] == exports[1]


@pytest.mark.slow
def test_files_that_are_no_whole_export_are_refused(open_memory, space_name, tmp_path):
    memory = open_memory(extractor="rules")
    space, target = memory.space(space_name), memory.space(space_name + "-b")
    tell(space)
    path = tmp_path / "whole.jsonl"
    space.files.export(path, derived=True)
    with pytest.raises(StoreError, match="exists already"):
        space.files.export(path)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for wrong, message in (
        ("".join(lines[:-1]), "cut off"),
        ("".join([*lines[:1], *lines[2:]]), "messages instead of"),
        ("{}\n", "line 1 is not"),
        ("".join([lines[0], "nothing\n"]), "line 2 is not"),
        (lines[0].replace('"format": 1', '"format": 99'), "format 99"),
        ("", "cut off"),
    ):
        other = tmp_path / "wrong.jsonl"
        other.write_text(wrong, "utf-8")
        with pytest.raises(ConfigurationError, match=message):
            target.files.load(other)
        assert target.stats().messages == 0
    with pytest.raises(ConfigurationError, match="cannot read"):
        target.files.load(tmp_path / "nowhere.jsonl")
    assert target.files.load(path) == len(TALK)


def begun(memory, space_name, export, lines):
    """What a process leaves that is killed while it imports the first lines of an export."""
    importer = Import(memory._engine, space_name)
    importer._importer = memory._engine.store.housekeeping.begin_import(space_name)
    for number, line in enumerate(export.read_text("utf-8").splitlines()[:lines], 1):
        importer._take(line, number)
    importer._store()
    return importer


@pytest.mark.slow
def test_an_interrupted_import_is_undone_when_it_is_repeated(open_memory, space_name, tmp_path):
    memory = open_memory(extractor="rules")
    space, target = enriched(memory.space(space_name)), memory.space(space_name + "-to")
    path, expected = tmp_path / "whole.jsonl", shown(space)
    messages = space.files.export(path, derived=True)
    target.add("I like tea.", id="gone", session="old", speaker="Ann", at=at(0))
    target.forget(message="gone")
    killed = begun(memory, target.name, path, 8)
    assert 0 < target.stats().messages < messages
    assert target.name not in memory.spaces()
    assert [
        (item.name, target.name in item.detail) for item in memory.admin.check() if not item.ok
    ] == [("imports", True)]
    with pytest.raises(StoreError, match="part of an import that is running, or was interrupted"):
        target.add("I like tea.", id="mine", session="mine")
    assert target.files.load(path) == messages
    assert shown(target) == expected
    assert [item.name for item in memory.admin.check() if not item.ok] == []
    assert target.name in memory.spaces()
    # What was forgotten before stays forgotten.
    again = target.add("I like tea.", id="gone", session="old", speaker="Ann", at=at(0))
    assert again.forgotten == ("gone",)
    killed._batch = [clean_message(
        Message(text="More.", id="more", session="s"), space=target.name, now=at(9), zone=None,
        limit=100, seen=Counter(), index=0,
    )]  # fmt: skip
    with pytest.raises(StoreError, match="another program has begun to import"):
        killed._store()  # had it not been killed, it would add nothing more


@pytest.mark.slow
def test_a_space_is_copied_and_an_interrupted_copy_repeated_or_deleted(
    open_memory, space_name, tmp_path
):
    memory = open_memory(extractor="rules")
    space, path = enriched(memory.space(space_name)), tmp_path / "whole.jsonl"
    messages, expected = space.files.export(path, derived=True), shown(space)
    assert messages == len(TALK) + 8
    assert memory.admin.copy_space(space_name, space_name + "-copy") == messages
    assert shown(memory.space(space_name + "-copy")) == expected
    for name in (space_name + "-a", space_name + "-b"):
        begun(memory, name, path, 8)
    assert memory.admin.copy_space(space_name, space_name + "-a") == messages
    assert shown(memory.space(space_name + "-a")) == expected
    memory.admin.delete_space(space_name + "-b")
    memory.space(space_name + "-b").add("I like tea.", id="mine")
    assert memory.space(space_name + "-b").stats().messages == 1
    with pytest.raises(ConfigurationError, match="holds messages"):
        memory.admin.copy_space(space_name, space_name + "-b")
    assert memory.space(space_name + "-b").stats().messages == 1
