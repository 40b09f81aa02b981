"""What cannot be released is refused, and what is packed is the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from cognigraph._version import __version__
from tests.e2e.release import release
from tests.pages import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository that can be released as 1.2.3."""
    files = {
        "cognigraph/_version.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.3, 2026-05-20\n\n- Text.\n\n## 1.2.2, 2026-05-01\n",
        f"{release.CHART}/Chart.yaml": "name: cognigraph\nversion: 1.2.3\nappVersion: 1.2.3\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "one")):
        subprocess.run([*git, *command], check=True)
    return tmp_path


def test_a_tree_with_changes_is_refused(tree: Path) -> None:
    release.check_tree(tree)
    (tree / "new.txt").write_text("x")
    with pytest.raises(release.NotReady, match=r"(?s)commit or remove .*\?\? new\.txt"):
        release.check_tree(tree)


@pytest.mark.parametrize(
    ("name", "before", "after", "reason"),
    [
        ("CHANGELOG.md", "## 1.2.3, 2026-05-20", "## Unreleased", "'Unreleased', .* says 1.2.3"),
        ("CHANGELOG.md", "## 1.2.3, 2026-05-20", "## 1.2.3", "'1.2.3', and .* says 1.2.3"),
        ("cognigraph/_version.py", "1.2.3", "1.3.0", "'1.2.3, 2026-05-20', and .* says 1.3.0"),
        (f"{release.CHART}/Chart.yaml", "appVersion: 1.2.3", "appVersion: 1.2.2", "make it 1.2.3"),
    ],
)  # fmt: skip
def test_versions_that_differ_are_refused(
    tree: Path, name: str, before: str, after: str, reason: str
) -> None:
    assert release.check_version(tree) == "1.2.3"
    text = (tree / name).read_text()
    assert before in text
    (tree / name).write_text(text.replace(before, after, 1))
    with pytest.raises(release.NotReady, match=reason):
        release.check_version(tree)


def test_the_chart_has_the_version_of_the_package() -> None:
    for name in ("version", "appVersion"):
        assert release.match(rf"^{name}: (.+)$", ROOT / release.CHART / "Chart.yaml") == __version__


def test_the_bill_of_materials_names_the_version(tmp_path: Path) -> None:
    bill = tmp_path / "bill.json"
    made = {"bomFormat": "CycloneDX", "metadata": {"component": {"name": "é", "type": "x"}}}
    bill.write_text(json.dumps(made), "utf-8")
    release.state_version(bill, "1.2.3")
    made["metadata"]["component"] |= {"version": "1.2.3", "purl": "pkg:pypi/é@1.2.3"}  # type: ignore[index]
    assert json.loads(bill.read_text("utf-8")) == made


def test_an_archive_is_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("text")
    archives = [tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"]
    for archive in archives:
        (tmp_path / "site" / "index.html").touch()
        release.pack(tmp_path / "site", archive, "docs")
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as tar:
        assert tar.getnames() == ["docs", "docs/index.html"]
    for number, archive in enumerate(archives):  # as setuptools writes them
        with tarfile.open(archive, "w:gz") as tar:
            os.utime(tmp_path / "site" / "index.html", (number, number + 0.5))
            tar.add(tmp_path / "site", "docs")
    assert archives[0].read_bytes() != archives[1].read_bytes()
    for archive in archives:
        release.pack_again(archive, 1_779_267_600)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as tar:
        assert tar.getnames() == ["docs", "docs/index.html"]
        assert {entry.mtime for entry in tar} == {1_779_267_600}
        packed = tar.extractfile("docs/index.html")
        assert packed is not None and packed.read() == b"text"
