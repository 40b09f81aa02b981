"""Which tests of a parallel run share a worker, and which files a run does not import."""

from __future__ import annotations

import pytest

from tests.cases import each
from tests.lines import lines_for, preferred_lines, scope
from tests.selection import is_excluded


@each(
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
    assert scope(nodeid) == (expected or nodeid.partition("::")[0])


def test_every_test_that_needs_a_server_names_its_line(request):
    """In its id, where the scheduler looks."""
    for item in request.session.items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        wanted = params.get("neo4j_server") or params.get("location", "sqlite")
        assert wanted == "sqlite" or scope(item.nodeid).startswith("neo4j-"), item.nodeid


def test_on_which_lines_a_test_runs():
    lines = ["5.26", "2026"]
    assert lines_for(["slow"], lines) == {"2026"}
    assert lines_for(["slow", "oldest_line"], lines) == {"5.26"}
    assert lines_for(["every_line"], lines) == lines_for(["every_line", "oldest_line"], lines)
    assert lines_for(["every_line"], lines) == lines_for(["fuzz"], lines) == set(lines)
    assert lines_for(["oldest_line"], ["2026"]) == {"2026"}


@pytest.mark.slow
def test_a_server_that_the_environment_names_is_preferred(monkeypatch):
    for name in ("COGNIGRAPH_TEST_NEO4J_URI", "COGNIGRAPH_TEST_NEO4J_URI_2026"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COGNIGRAPH_TEST_NEO4J_URI", "bolt://127.0.0.1:9")
    assert preferred_lines(["2026", "5.26"]) == ["5.26"]
    assert preferred_lines(["2026"]) == ["2026"]
    monkeypatch.setenv("COGNIGRAPH_TEST_NEO4J_URI_2026", "bolt://127.0.0.1:9")
    assert preferred_lines(["2026", "5.26"]) == ["5.26", "2026"]


@pytest.mark.parametrize(
    ("first_lines", "expression", "excluded"),
    [
        ("pytestmark = pytest.mark.slow", "not neo4j and not slow", True),
        ("pytestmark = [pytest.mark.every_line, pytest.mark.slow]", "not slow", True),
        ("pytestmark = pytest.mark.slow", "", False),
        ("pytestmark = pytest.mark.slow", "slow", False),
        ("pytestmark = pytest.mark.slow", "not slow or hypothesis", False),
        ("pytestmark = pytest.mark.every_line", "not slow", False),
        ("@pytest.mark.slow\ndef test_one(): ...", "not slow", False),
        ("", "not slow", False),
    ],
)
def test_files_of_excluded_tests_are_not_imported(tmp_path, first_lines, expression, excluded):
    file = tmp_path / "folder" / "test_any.py"
    file.parent.mkdir()
    file.write_text(f"import pytest\n\n{first_lines}\n")
    (file.parent / "conftest.py").write_text("")
    assert is_excluded(file, expression) is excluded
    assert is_excluded(file.parent, expression) is excluded
    (file.parent / "test_another.py").write_text("")
    assert not is_excluded(file.parent, expression)
