"""Which tests of a parallel run share a worker."""

from __future__ import annotations

import pytest

from tests.scheduling import scope


@pytest.mark.parametrize(
    ("nodeid", "expected"),
    [
        ("tests/contract/test_a.py::test_x[neo4j-2026]", "neo4j-2026"),
        ("tests/contract/test_a.py::test_x[neo4j-2026-Plan(batch=1)]", "neo4j-2026"),
        ("tests/contract/test_a.py::test_x[1-neo4j-5.26-y]", "neo4j-5.26"),
        ("tests/contract/test_a.py::test_x[sqlite]", None),
        ("tests/unit/test_a.py::test_x[2026-05-20]", None),
        ("tests/integration/test_neo4j-2026.py::test_x", None),
    ],
)
def test_the_tests_of_one_line_of_neo4j_share_a_worker(nodeid, expected):
    assert scope(nodeid) == (expected or nodeid)


def test_every_test_that_needs_a_server_names_its_line(request):
    """In its id, where the scheduler looks."""
    for item in request.session.items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        wanted = params.get("neo4j_server") or params.get("location", "sqlite")
        assert wanted == "sqlite" or scope(item.nodeid).startswith("neo4j-"), item.nodeid
