"""How fast the page of ``cognigraph serve`` paints on a large memory, in a real Chromium.

``python -m bench.page --messages 100000 --json bench/results/page.json`` stores that many synthetic
messages in one space, with facts for the first few thousand, serves the file, and loads each view
several times. For each it gives the median and the largest time in milliseconds to the first
contentful paint, and until the view's heading is there with its data. The machine's other work is
part of the times.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.synthetic import SyntheticExtractor, World, messages
from cognigraph import Limits, Memory

VIEWS = {
    "conversations": "default",
    "conversation": "default/conversation/{session}",
    "facts": "default/facts",
    "entities": "default/entities",
    "graph": "default/graph",
    "playground": "default/ask?q=Where+is+the+kayak%3F",
    "queue": "default/work",
}
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def main() -> None:
    """Measure and print, or write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--loads", type=int, default=5, help="loads of each view")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = _fill(f"{folder}/memory.db", given.messages)
        result = {
            "messages": given.messages,
            "loads": given.loads,
            "views": _serve(f"{folder}/memory.db", session, given.loads),
        }
    text = json.dumps(result, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")


def _fill(path: str, count: int) -> str:
    world = World()
    extractor = SyntheticExtractor(world, per_turn=3)
    with Memory(path, enrich="manual", extractor=extractor) as memory:
        memory.add_many(messages(world, count))
        memory.queue.enrich(limits=Limits(rounds=200))
        return memory.overview.sessions(limit=1)[0].id


def _serve(path: str, session: str, loads: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "cognigraph", "--db", path, "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found, "the server does not start"
        try:
            return _load(found.group(), session, loads)
        finally:
            server.terminate()


def _load(address: str, session: str, loads: int) -> dict[str, Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        page = browser.new_page()
        page.set_default_timeout(120_000)
        results = {}
        for name, view in VIEWS.items():
            times = [
                _once(page, f"{address}/#/{view.format(session=session)}") for _ in range(loads)
            ]
            paints, ready = zip(*times, strict=True)
            results[name] = {
                "first_paint_ms": _spread([paint for paint in paints if paint is not None]),
                "ready_ms": _spread(ready),
            }
        browser.close()
        return results


def _once(page: Page, address: str) -> tuple[float | None, float]:
    page.goto("about:blank")
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("main h1")
    ready = (time.perf_counter() - started) * 1000
    return page.evaluate(_PAINT), ready


def _spread(values: Any) -> dict[str, float]:
    return {"median": round(statistics.median(values)), "largest": round(max(values))}


if __name__ == "__main__":
    main()
