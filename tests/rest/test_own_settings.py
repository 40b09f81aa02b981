"""The settings of a request are laid over those with which the served memory was opened."""

from __future__ import annotations

import pytest

from cognigraph import (
    ContextSettings,
    LicoMemorySettings,
    Memory,
    SearchSettings,
    Settings,
    Space,
)
from cognigraph.server.bodies import body_of

SPACE = "/v1/spaces/ann"
OWN = Settings(
    search=SearchSettings(
        ranking="licomemory",
        k=1,
        # Nothing is enriched here, and the paper's candidates are found through facts.
        licomemory=LicoMemorySettings(mean="arithmetic", candidates="wide"),
    ),
    context=ContextSettings(order="relevance"),
)


@pytest.fixture
def client(serve, tmp_path, clock):
    with Memory(tmp_path / "own.db", enrich="manual", clock=clock, settings=OWN) as memory:
        for number, city in enumerate(("Oslo", "Bergen", "Hamar")):
            memory.space("ann").add(
                f"The flat in {city} was cold.", id=city, at=f"2026-05-0{number + 1}T09:00:00Z"
            )
        yield serve(memory=memory)


def search(client, **settings):
    body = {"question": "Which flat was cold?", "settings": settings, "explain": True}
    response = client.post(f"{SPACE}/search", json=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.slow
def test_what_a_request_does_not_set_is_as_the_memory_was_opened(client):
    found = search(client, decay=False)
    assert found["trace"]["ranking"] == "licomemory"
    assert len(found["hits"]) == 1
    found = search(client, k=2)
    assert (found["trace"]["ranking"], len(found["hits"])) == ("licomemory", 2)
    found = search(client, ranking="default")
    assert (found["trace"]["ranking"], len(found["hits"])) == ("default", 1)


@pytest.mark.slow
def test_several_spaces_and_why_keep_them_too(client):
    question = {"question": "Which flat was cold?", "settings": {"decay": False}}
    found = client.post("/v1/search", json={**question, "spaces": ["ann"]}).json()
    assert len(found["hits"]) == 1
    found = client.post(f"{SPACE}/why", json={**question, "expect": "Oslo"}).json()
    assert found["k"] == 1
    assert "ranking default" in [name for name, _ in found["variants"]]


@pytest.mark.parametrize("verb", [Space.context, Space.ask])
def test_a_block_and_an_answer_keep_all_other_settings(verb):
    given = {"question": "Which flat?", "settings": {"radius": 0}}
    settings = body_of(verb)(**given).arguments(OWN)["settings"]
    assert settings.context == OWN.context
    assert (settings.search.k, settings.search.radius) == (1, 0)
    assert settings.search.licomemory.mean == "arithmetic"


def test_without_settings_nothing_is_passed_on():
    assert body_of(Space.search)(question="Which flat?").arguments(OWN) == {
        "question": "Which flat?"
    }
