"""The page in a real Chromium, served from a small memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from cognigraph import Memory, Message
from cognigraph.server.keys import KeyFile
from tests.servers.applications import application
from tests.servers.in_thread import in_thread

HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
"""Text that would change the title of the page if it were read as HTML."""
SAID = [
    ("b1", "ann-moves", "Ann", "2026-02-01", "I live in Bergen."),
    ("b2", "ann-moves", "Ann", "2026-02-01", "I work at the fish market."),
    ("b3", "ann-moves", "Ben", "2026-02-01", "Is the fish market far from your flat?"),
    ("o1", "ann-in-oslo", "Ann", "2026-06-10", "I moved to Oslo last week."),
    ("o2", "ann-in-oslo", "Ann", "2026-06-10", "I have a dog called Luna."),
    ("h1", f"notes/{HOSTILE}", HOSTILE, "2026-06-11", f"Look at this: {HOSTILE}"),
]


def _fill(memory: Memory) -> None:
    memory.add_many(
        Message(text=text, id=id, session=session, speaker=speaker, at=f"{day}T10:0{number}:00Z")
        for number, (id, session, speaker, day, text) in enumerate(SAID)
    )
    memory.queue.enrich()


def _chromium() -> str:
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    reason = "no Chromium here; on Debian: apt-get install chromium-headless-shell"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


# Not for the session: as long as Playwright runs, other tests cannot start an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = _chromium()
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root, as which containers run.
        arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


@dataclass
class Served:
    """A memory that is served. ``problems`` is what the browser complained about."""

    address: str
    file: Path
    keys: KeyFile
    problems: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        """Note errors, refused content and requests that fail."""
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                self.problems.append(f"{message.type}: {message.text}")
                if message.type in ("error", "warning")
                else None
            ),
        )
        return page


@pytest.fixture(scope="session")
def memory_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "memory.db"
    with Memory(path, enrich="manual") as memory:
        _fill(memory)
    return path


@pytest.fixture
def memory_copy(memory_file: Path, tmp_path: Path) -> Path:
    """A copy of the memory, so that each test may change it."""
    path = tmp_path / "memory.db"
    with Memory(memory_file, enrich="manual") as memory:
        memory.admin.backup(path)
    return path


@pytest.fixture
def served(memory_copy: Path) -> Iterator[Served]:
    keys = KeyFile(f"{memory_copy}.keys")
    with Memory(memory_copy, enrich="background") as memory:
        app = application(memory, keys=keys)
        with in_thread(app) as (host, port):
            yield Served(f"http://{host}:{port}", memory_copy, keys)


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """A page that complains about nothing, whatever the test does with it."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, locale="en-GB")
    context.set_default_timeout(30_000)
    yield served.watch(context.new_page())
    context.close()
    assert served.problems == []


@pytest.fixture
def visit(page: Page, served: Served) -> Callable[[str], Page]:
    """Open a view and wait for its heading."""

    def go(view: str) -> Page:
        page.goto(f"{served.address}/#/{view}")
        page.wait_for_selector("main h1")
        return page

    return go
