"""Take the pictures of the page: ``python -m docs.draw.page_pictures``.

They show the packaged sample conversation. It needs Chromium (``apt-get install chromium``) and the
development tools.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parents[1] / "pictures"
VIEWS = {
    "page-conversation": "default/conversation/aug-ida",
    "page-facts": "default/facts?entity=Pia",
    "page-graph": "default/graph",
    "page-playground": "default/ask?q=Where+does+Jonas+work+now%3F",
}
OPENED = {"page-facts": "li.row summary"}
"""What is clicked before the picture is taken."""


def main() -> None:
    """Play the sample into a file, serve it, and photograph each view."""
    cognigraph = [sys.executable, "-m", "cognigraph"]
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/memory.db"
        subprocess.run(
            [*cognigraph, "--db", database, "demo"], check=True, stdout=subprocess.DEVNULL
        )
        command = [*cognigraph, "--db", database, "serve", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            found = re.search(r"http://\S+", server.stderr.readline())
            assert found, "the server does not start"
            try:
                _photograph(found.group())
            finally:
                server.terminate()


def _photograph(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        page = browser.new_page(viewport={"width": 1100, "height": 760}, locale="en-GB")
        for name, view in VIEWS.items():
            page.goto("about:blank")
            page.goto(f"{address}/#/{view}")
            page.wait_for_selector("main h1")
            page.wait_for_load_state("networkidle")
            if name in OPENED:
                page.locator(OPENED[name]).first.click()
                page.wait_for_load_state("networkidle")
            page.wait_for_timeout(500)  # labels of a graph are laid out after it is drawn
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
