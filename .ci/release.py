"""Build what a release consists of into ``dist/``, and try it in an environment that is empty.

``make release`` runs it. It refuses a tree with changes, and a version that the changelog does not
end in; it uploads nothing and sets no tag.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHART = Path("docker/helm/cognigraph")
EXTRAS = "mcp,openai,server"
"""Those of the image; the bill of materials names what they bring."""


class NotReady(Exception):
    """The reason why this tree cannot be released, and what to do."""


def check_tree(root: Path) -> None:
    """Refuse a tree that differs from its commit.

    Raises:
        NotReady: something is changed or not known to git.
    """
    changed = run("git", "-C", root, "status", "--porcelain").strip()
    if changed:
        raise NotReady(f"commit or remove what differs from the commit first:\n{changed}")


def check_version(root: Path) -> str:
    """Return the version, which the package, the chart and the changelog must agree on.

    Raises:
        NotReady: they do not.
    """
    version = match(r'^__version__ = "(.+)"$', root / "cognigraph" / "_version.py")
    entry = match(r"^## (.+)$", root / "CHANGELOG.md")
    if not re.fullmatch(rf"{re.escape(version)}, \d{{4}}-\d\d-\d\d", entry):
        raise NotReady(
            f"the newest entry of CHANGELOG.md is {entry!r}, and cognigraph/_version.py says "
            f"{version}: make the entry '## VERSION, YYYY-MM-DD' and the version the same"
        )
    for name in ("version", "appVersion"):
        chart = match(rf"^{name}: (.+)$", root / CHART / "Chart.yaml")
        if chart != version:
            raise NotReady(f"{name} in {CHART}/Chart.yaml is {chart}; make it {version}")
    return version


def match(pattern: str, file: Path) -> str:
    """Return the first group of the first match in a file."""
    found = re.search(pattern, file.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise NotReady(f"{file} has nothing like {pattern}")
    return found[1]


def run(*command: object, cwd: Path | None = None, **environment: str) -> str:
    """Run a command and return what it prints; if it fails, so does the release."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **environment}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        words = " ".join(str(part) for part in command)
        raise NotReady(f"{words} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(source: Path, dist: Path, **environment: str) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from that and nothing else."""
    run(sys.executable, "-m", "build", "--outdir", dist, source, **environment)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return sdist, wheel


def try_out(wheel: Path, version: str, bill: Path) -> None:
    """Install the wheel where nothing else is, use it there, and list what came with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--no-compile")
        run(*pip, f"{wheel}[{EXTRAS}]", cwd=folder)
        run(python, "-I", ROOT / ".ci" / "smoke.py", version, ROOT, cwd=folder)
        run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools", cwd=folder)
        run(
            Path(sys.executable).with_name("cyclonedx-py"), "environment", "--output-reproducible",
            "--pyproject", ROOT / "pyproject.toml", "--output-file", bill, python,
        )  # fmt: skip
    state_version(bill, version)


def state_version(bill: Path, version: str) -> None:
    """Write the version into the bill of materials, since ``pyproject.toml`` has none."""
    document = json.loads(bill.read_text("utf-8"))
    component = document["metadata"]["component"]
    component |= {"version": version, "purl": f"pkg:pypi/{component['name']}@{version}"}
    bill.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def pack(folder: Path, archive: Path, name: str) -> None:
    """Write a folder into an archive, under a name, the same at each time and for each user."""
    with written(archive) as tar:
        tar.add(folder, name, filter=plain)


def pack_again(archive: Path, time: int) -> None:
    """Write an archive anew, so that it is the same for each user, and all in it has one time.

    ``time`` is in seconds since 1970. Files from before 1980 could not be zipped, as in a wheel.
    """
    before = io.BytesIO(archive.read_bytes())
    with tarfile.open(fileobj=before) as given, written(archive) as tar:
        for entry in given:
            entry.pax_headers = {}  # they have times, too
            entry = plain(entry)
            entry.mtime = time
            tar.addfile(entry, given.extractfile(entry) if entry.isfile() else None)


@contextmanager
def written(archive: Path) -> Iterator[tarfile.TarFile]:
    """An archive to write into, without the time in its head."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        yield tar


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry of an archive without its time and its owner."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def main() -> int:
    """Make the release."""
    try:
        check_tree(ROOT)
        version = check_version(ROOT)
        dist = ROOT / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        print("building the source distribution and the wheel", flush=True)
        committed = run("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
        sdist, wheel = build(ROOT, dist, SOURCE_DATE_EPOCH=committed)
        pack_again(sdist, int(committed))
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
        print("trying the wheel in an empty environment", flush=True)
        try_out(wheel, version, dist / f"cognigraph-memory-{version}.cdx.json")
        print("building the documentation", flush=True)
        run("make", "docs", cwd=ROOT)
        pack(ROOT / "site", dist / f"cognigraph-docs-{version}.tar.gz", "cognigraph-docs")
        pack(ROOT / CHART, dist / f"cognigraph-{version}.tgz", "cognigraph")
    except NotReady as reason:
        print(f"no release: {reason}", file=sys.stderr)
        return 1
    files = sorted(dist.iterdir())
    sums = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)
    (dist / "SHA256SUMS").write_text(sums, "utf-8")
    print(sums, end="")
    print(f"in dist/; next: git tag -a v{version} -m 'cognigraph {version}'")
    return 0


if __name__ == "__main__":
    sys.exit(main())
