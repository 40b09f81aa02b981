"""What bench/reach.py says became of recorded triples."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reach import account
from bench.recorded import NO_TURN, RecordedFact
from cognigraph import Memory
from cognigraph.testing import HashEmbedder, ScriptedExtractor
from tests.conftest import START

STORED = [
    ("Joanna", "recommends to nate", "cork board"),
    ("Nate", "has", "new tank"),
]


def recorded(subject: str, relation: str, object: str, turn: str = "m1") -> RecordedFact:
    return RecordedFact(subject, "person", relation, object, "object", (turn,))


@pytest.mark.slow
def test_a_triple_is_stored_whatever_forms_its_words_have(tmp_path: Path) -> None:
    facts = [
        recorded("Joanna", "recommended to Nate", "a cork board"),
        recorded("Nate", "has had", "the new tank"),
        recorded("Nate", "has", "new tank"),
        recorded("Nate", "is", "happy"),
        recorded("Nate", "is", "here", "m9"),
    ]
    extractor = ScriptedExtractor({"m1": STORED})
    options = {"embedder": HashEmbedder(64), "extractor": extractor, "enrich": "manual"}
    with Memory(tmp_path / "m.db", **options) as memory:
        space = memory.space("x")
        space.add("They talked about boards.", id="m1", speaker="Ann", at=START)
        space.flush()
        found = account(space, [("s", fact) for fact in facts], {"m1"}, START, 0)
    assert (found.recorded, found.stored, found.merged, found.listed) == (5, 2, 1, 3)
    assert found.lost == ["Nate is happy"]
    assert found.rejected == {NO_TURN: 1}
