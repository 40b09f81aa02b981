"""One question to several spaces, on every store."""

from __future__ import annotations

import pytest

from cognigraph import ConfigurationError, Filter, Memory
from tests.conftest import START


@pytest.mark.slow
def test_spaces_are_searched_together_and_only_those_that_are_named(open_memory, space_name):
    memory = open_memory()
    texts = {
        "a": ["The boiler was repaired in May.", "We had soup."],
        "b": ["The boiler makes a noise.", "The boiler is from 1998.", "A cat sleeps."],
        "c": ["The boiler is secret."],
    }
    for name, said in texts.items():
        for number, text in enumerate(said):
            memory.space(space_name + name).add(
                text, id=f"{name}{number}", session=name, speaker=name, at=START
            )
    named = [space_name + "a", space_name + "b", space_name + "nobody"]
    before = {name: memory.space(name).search("boiler", now=START) for name in named}
    result = memory.search_spaces(named, "boiler", 4, START)
    assert {item.space for item in result} == set(named[:2])
    assert {item.hit.id for item in result[:3]} == {"a0", "b0", "b1"}
    assert len(result) == 4
    for name in named:
        own = [item.hit.id for item in result if item.space == name]
        assert own == [hit.id for hit in before[name]][: len(own)]
        assert result.results[name].hits == memory.space(name).search("boiler", 4, START).hits
    only = memory.search_spaces(named, "boiler", now=START, where=Filter(speaker="a"))
    assert {item.space for item in only} == {space_name + "a"}
    assert not memory.search_spaces([], "boiler")
    with pytest.raises(ConfigurationError, match="a list of names"):
        memory.search_spaces("ab", "boiler")


def test_without_names_all_spaces_are_searched(tmp_path):
    """On a file: a server of the tests also holds the spaces of others, some broken on purpose."""
    with Memory(tmp_path / "m.db", enrich="manual") as memory:
        for name in "ab":
            memory.space(name).add("The boiler hums.", id=name, at=START)
        found = memory.search_spaces(None, "boiler", now=START)
        assert sorted(item.space for item in found) == ["a", "b"]
