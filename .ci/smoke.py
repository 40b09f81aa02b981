"""Use an installed cognigraph: ``smoke.py VERSION CHECKOUT``.

Run with ``python -I`` outside the checkout, so that what is imported is what was installed.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

COMMAND = str(Path(sys.executable).with_name("cognigraph"))


def cognigraph(*arguments: str) -> str:
    """Run the command and return what it prints."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_library(checkout: str) -> None:
    """Add, search and build a block, with the installed package."""
    import cognigraph

    assert not cognigraph.__file__.startswith(checkout), cognigraph.__file__
    with cognigraph.Memory("library.db") as memory:
        ann = memory.space("ann")
        ann.add("I live in Bergen.", speaker="Ann", at="2026-02-01T09:00:00Z", id="m1")
        ann.add("I moved to Oslo.", speaker="Ann", at="2026-06-10T09:00:00Z", id="m2")
        ann.flush()
        assert {hit.id for hit in ann.search("Where does Ann live?", 2)} == {"m1", "m2"}
        block = ann.context("Where does Ann live?")
        assert "I moved to Oslo." in block and "[no longer true" in block, block
        rows = list(ann.cypher("MATCH (t:Triple) RETURN count(t) AS n"))
        assert rows[0]["n"] >= 2, rows


def check_server() -> None:
    """Start the server, wait until it is ready, and stop it."""
    server = subprocess.Popen(
        [COMMAND, "serve", "--db", "library.db", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        (url,) = re.findall(r"http://\S+", server.stderr.readline())
        end = time.monotonic() + 120
        while not is_ready(url):
            assert time.monotonic() < end
            time.sleep(0.1)
        with urlopen(f"{url}/v1/spaces") as answer:
            assert json.load(answer) == {"items": ["ann"]}
        with urlopen(f"{url}/page/app.js") as answer:
            assert answer.status == 200
    finally:
        server.terminate()
        _, said = server.communicate(timeout=60)
    assert server.returncode == 0, said


def is_ready(url: str) -> bool:
    """Whether the server says so."""
    try:
        with urlopen(f"{url}/ready") as answer:
            return answer.status == 200
    except HTTPError:
        return False


async def check_mcp() -> None:
    """Start the MCP server as an agent does, and ask it."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    arguments = ["mcp", "--db", "library.db", "--space", "ann"]
    async with Client(StdioServerParameters(command=COMMAND, args=arguments)) as client:
        answer = await client.call_tool("search_memories", {"question": "Where does Ann live?"})
        assert not answer.is_error and "Oslo" in str(answer.content), answer


def main(version: str, checkout: str) -> None:
    """Check everything."""
    assert cognigraph("--version").strip() == f"cognigraph {version}"
    assert "m1" in cognigraph("add", "I like tea.", "--speaker", "Ann", "--id", "m1")
    assert "I like tea." in cognigraph("search", "What does Ann like?")
    check_library(checkout)
    check_server()
    asyncio.run(check_mcp())


if __name__ == "__main__":
    main(*sys.argv[1:])
