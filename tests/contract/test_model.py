"""Extraction and summaries by a model, on every store: its state is kept between leases."""

from __future__ import annotations

from datetime import timedelta

from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.testing import ScriptedModel
from tests.conftest import START

READ = {
    "entities": ["Pia | person | my sister", "Bergen | location"],
    "facts": ["1 | my sister | moved_to | Bergen | last Tuesday"],
}
NOTHING = {"entities": [], "facts": []}
SUMMARY = {"keys": ["Bergen"], "themes": [{"title": "Move", "summary": "Pia moved to Bergen."}]}
REFINED = {"keys": ["flat"], "themes": [{"n": 1, "summary": "Pia has a flat in Bergen."}]}


def test_a_failed_summary_is_written_later(open_memory, space_name):
    model = ScriptedModel([READ, SUMMARY, NOTHING, "no", NOTHING, REFINED])
    space = open_memory(extractor=ModelExtractor(model)).space(space_name)
    seen = []
    for number, text in enumerate(("My sister moved.", "She has a flat.", "A small one.")):
        at = START + timedelta(minutes=number)
        space.add(text, id=f"m{number}", session="s", speaker="Ann", at=at)
        (step,) = space.queue.enrich()
        assert step.error is None
        (session,) = space.overview.sessions()
        seen.append((session.summary, session.keys, session.version))
    assert seen == [
        ("Move: Pia moved to Bergen.", ("Bergen",), 1),
        ("Move: Pia moved to Bergen.", ("Bergen",), 1),
        ("Move: Pia has a flat in Bergen.", ("Bergen", "flat"), 2),
    ]
    last = model.asked[-1].prompt.user
    assert "She has a flat." in last and "A small one." in last
    assert "My sister moved." not in last
    (triple,) = space.facts()
    assert (triple.text, triple.when.text) == ("Pia moves to Bergen", "2026-05-19")
    assert (triple.subject_type, triple.object_type) == ("person", "location")
