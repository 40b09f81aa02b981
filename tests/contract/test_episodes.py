"""Episodes: themes with the messages that they cover, listed, searched, kept and removed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from cognigraph import Extraction, Filter, Memory, Theme
from cognigraph.ingest import Fact
from tests.conftest import START

TALK = [
    ("Ann", "I finally booked the flights to Lisbon."),
    ("Ben", "Lovely, which airline flies to Lisbon?"),
    ("Ann", "TAP, and the flights leave on Friday."),
    ("Ben", "By the way, my old bicycle was stolen."),
    ("Ann", "The green bicycle? Did you call the police?"),
    ("Ben", "Yes, the police wrote a report about the bicycle."),
]


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def tell(space, turns=TALK, first: int = 0) -> None:
    for number, (who, text) in enumerate(turns, first):
        space.add(text, id=f"m{number}", session="s", speaker=who, at=at(number))


def covering(*parts: tuple[str, str, list[int]]):
    """An extractor's session hook: themes of (title, summary, indices into the window)."""

    def session(window):
        kept = {theme.title: theme for theme in window.notes.themes}
        themes = []
        for title, summary, indices in parts:
            old = kept.get(title, Theme(title, ""))
            uids = tuple(window.chunks[n].uid for n in indices if n < len(window.chunks))
            themes.append(replace(old, summary=summary, covers=(*old.covers, *uids), reason="cue"))
        return Extraction(keys=(), themes=tuple(themes))

    return session


TRIP = ("Trip", "Ann flies to Lisbon on Friday.", [0, 1, 2])
BIKE = ("Bicycle", "Ben's green bicycle was stolen.", [2, 3, 4, 5])


@pytest.fixture
def space(open_memory, extractor, space_name):
    extractor.session = covering(TRIP, BIKE)
    space = open_memory().space(space_name)
    tell(space)
    space.flush()
    return space


def test_a_theme_with_the_messages_that_it_covers_is_an_episode(space):
    bike, trip = space.overview.episodes()
    assert (trip.title, trip.messages, trip.reason) == ("Trip", ("m0", "m1", "m2"), "cue")
    assert (trip.started_at, trip.ended_at) == (at(0), at(2))
    assert (bike.messages, bike.session) == (("m2", "m3", "m4", "m5"), "s")  # they overlap
    assert space.overview.episodes("s", limit=1, offset=1) == [trip]
    assert space.overview.episodes("other") == []
    assert {theme.uid for theme in space.overview.sessions()[0].themes} == {trip.uid, bike.uid}
    rows = space.cypher(name="episodes")
    assert [(row["title"], row["covers"]) for row in rows] == [("Trip", 3), ("Bicycle", 4)]


@pytest.mark.slow
def test_an_episode_keeps_its_uid_while_it_grows_and_is_renamed(
    space, extractor, open_memory, space_name, tmp_path
):
    before = {episode.title: episode.uid for episode in space.overview.episodes()}

    def renamed(window):
        trip, bike = window.notes.themes
        more = tuple(chunk.uid for chunk in window.chunks)
        grown = replace(trip, title="Lisbon", covers=(*trip.covers, *more))
        return Extraction(
            keys=(), themes=(Theme("Stolen", "It is gone.", covers=bike.covers), grown,
                             Theme("Trip", "Another trip.", covers=more)),
        )  # fmt: skip

    extractor.session = renamed
    tell(space, [("Ann", "The hotel in Lisbon is booked.")], first=6)
    space.flush()
    found = {episode.title: episode for episode in space.overview.episodes()}
    assert found["Lisbon"].uid == before["Trip"]
    assert found["Lisbon"].messages == ("m0", "m1", "m2", "m6")
    assert found["Lisbon"].ended_at == at(6)
    assert found["Stolen"].uid == before["Bicycle"]  # by what it covers
    assert found["Trip"].uid not in before.values()  # another episode of an old title
    # In a space that is loaded from an export, the uid is made from the title.
    path = tmp_path / "s.jsonl"
    space.files.export(path, derived=True)
    memory: Memory = open_memory(extractor="rules")
    memory.admin.delete_space(space_name)
    again = memory.space(space_name)
    again.files.load(path)
    assert [replace(item, uid="") for item in again.overview.episodes()] == [
        replace(item, uid="") for item in found.values()
    ]


@pytest.mark.slow
def test_episodes_are_ranked_with_the_messages_that_they_cover(space):
    found = space.search("What happened to the bicycle?", 1, layer="episodes")
    (best,) = found.episodes
    assert (best.title, found.layer) == ("Bicycle", "episodes")
    assert best.score and best.score > 0
    assert [hit.id for hit in found.hits] == ["m2", "m3", "m4", "m5"]
    whole = space.search("What happened to the bicycle?", 5, layer="episodes")
    assert [episode.title for episode in whole.episodes] == ["Bicycle", "Trip"]
    assert [hit.id for hit in whole.hits] == ["m2", "m3", "m4", "m5", "m0", "m1"]
    early = space.search("Where to?", 5, layer="episodes", as_of=at(3))
    assert [episode.title for episode in early.episodes] == ["Trip"]  # the other ended later
    anns = space.search("bicycle", 5, layer="episodes", where=Filter(speaker="Ann"))
    assert [hit.id for hit in anns.hits] == ["m2", "m4", "m0"]
    assert space.search("", layer="episodes").episodes == ()


@pytest.mark.slow
def test_several_queries_give_episodes_in_turns_and_none_twice(space):
    both = space.search("stolen bicycle", 2, layer="episodes", also=["flights to Lisbon"])
    assert [episode.title for episode in both.episodes] == ["Bicycle", "Trip"]
    new = space.search("stolen bicycle", 2, layer="episodes", without=both.episodes[:1])
    assert [episode.title for episode in new.episodes] == ["Trip"]
    unseen = space.search("stolen bicycle", 2, layer="episodes", without=["m3"])
    assert [hit.id for hit in unseen.hits[:3]] == ["m2", "m4", "m5"]
    one = space.search("stolen bicycle", 2, layer="episodes", per_session=1)
    assert [one.title for one in one.episodes] == ["Bicycle"]


@pytest.mark.slow
def test_facts_rank_the_messages_that_state_them(open_memory, extractor, space_name):
    space = open_memory().space(space_name)
    lost = Fact("Ben", "person", "lost", "green bicycle", "object", (0,))
    flies = Fact("Ann", "person", "flies to", "Lisbon", "location", (0,))
    extractor.script({"m2": [flies], "m3": [lost], "m5": [lost]})
    tell(space)
    space.flush()
    found = space.search("Who lost a bicycle?", 2, layer="facts")
    stated = {hit.id for triple in found.triples[:1] for hit in found.hits
              if triple.uid in {item.uid for item in hit.triples}}  # fmt: skip
    assert found.triples[0].text == "Ben lost green bicycle"
    assert stated == {hit.id for hit in found.hits} == {"m3", "m5"}
    assert found.layer == "facts" and found.episodes == ()
    everything = space.search("Who lost a bicycle and who flies to Lisbon?", 9, layer="facts")
    assert {hit.id for hit in everything.hits} == {"m2", "m3", "m5"}  # the others state nothing


@pytest.mark.slow
def test_what_is_forgotten_is_in_no_episode(space, extractor):
    extractor.session = None
    space.forget(message="m0")
    assert space.overview.episodes() == []  # its session is read again
    space.flush()
    assert "m0" not in {id for episode in space.overview.episodes() for id in episode.messages}
    space.forget(everything=True)
    assert space.overview.episodes() == []
    assert space.search("Lisbon", layer="episodes").episodes == ()


@pytest.mark.slow
def test_a_copy_has_the_episodes(space, open_memory, extractor, space_name, tmp_path):
    memory: Memory = open_memory(extractor="rules")
    memory.admin.copy_space(space_name, f"{space_name}-b")
    copy = memory.space(f"{space_name}-b")
    shown = [
        (episode.title, episode.messages, episode.reason) for episode in space.overview.episodes()
    ]
    assert [
        (episode.title, episode.messages, episode.reason) for episode in copy.overview.episodes()
    ] == shown
    space.files.export(tmp_path / "s.jsonl", derived=True)
    memory.admin.delete_space(space_name)
    assert memory.space(space_name).overview.episodes() == []
    memory.space(space_name).files.load(tmp_path / "s.jsonl")
    again = memory.space(space_name).overview.episodes()
    assert [(item.title, item.messages, item.reason) for item in again] == shown
    (hit,) = copy.search("stolen bicycle", 1, layer="episodes").episodes
    assert hit.title == "Bicycle"


@pytest.mark.slow
def test_the_rules_make_episodes_whatever_the_batches(open_memory, space_name, extractor):
    talk = [*TALK, ("Ann", "On another note, I painted the kitchen yellow."),
            ("Ben", "A yellow kitchen sounds warm.")]  # fmt: skip
    found = []
    for name, sizes in ((space_name, (8,)), (f"{space_name}-b", (3, 4, 1))):
        space = open_memory(extractor="rules").space(name)
        first = 0
        for size in sizes:
            tell(space, talk[first : first + size], first)
            space.flush()
            first += size
        found.append(
            [
                (episode.title, episode.messages, episode.reason)
                for episode in space.overview.episodes()
            ]
        )
    assert found[0] == found[1]
    covered = {id for _, messages, _ in found[0] for id in messages}
    assert covered == {f"m{n}" for n in range(8)}  # nothing is left out
