"""The MCP server as a process of its own, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from cognigraph import Memory
from tests.e2e.command_line import command, environment, run_here
from tests.servers.served import served

pytestmark = pytest.mark.slow

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
HELLO["params"] = {  # type: ignore[assignment]
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def parameters(db: Path, *options: str) -> StdioServerParameters:
    name, *arguments = command("mcp", "--db", db, *options)
    return StdioServerParameters(command=name, args=arguments, env=environment())


def test_a_client_works_over_standard_input_and_output(tmp_path):
    db = tmp_path / "memory.db"

    async def work() -> Any:
        async with Client(parameters(db, "--space", "ann")) as client:
            said = {"text": "I moved to Oslo.", "speaker": "Ann"}
            await client.call_tool("add_memories", {"memories": [said]})
            return await client.call_tool("get_context", {"question": "Where did Ann move?"})

    block = asyncio.run(work())
    assert "I moved to Oslo." in block.content[0].text
    with Memory(db, enrich="manual") as memory:
        assert memory.spaces() == ["ann"]
        assert memory.space("ann").stats().leased == 0


def test_nothing_but_the_protocol_is_on_standard_output_and_a_kill_loses_nothing(tmp_path):
    db = tmp_path / "memory.db"
    add, wrong = (
        {"name": "add_memories", "arguments": {"memories": [{"text": text, "id": "m1"}]}}
        for text in ("I moved to Oslo.", "")
    )
    requests = [
        HELLO,
        READY,
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": p}
          for n, p in ((2, wrong), (3, add))),
    ]  # fmt: skip
    with subprocess.Popen(
        command("mcp", "--db", db), env=environment(COGNIGRAPH_DEBUG="1"), cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        answers = {}
        for request in requests:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            if "id" in request:
                answer = json.loads(process.stdout.readline())
                answers[answer["id"]] = answer["result"]
        process.kill()
        assert process.stdout.read() == ""
    assert answers[2]["isError"] is True
    assert answers[3]["structuredContent"] == {"ids": ["m1"], "new": 1}
    with Memory(db, enrich="manual") as memory:
        assert memory.get("m1").text == "I moved to Oslo."  # type: ignore[union-attr]
        memory.flush()
        assert memory.stats().pending == 0


def test_a_client_works_over_http_with_the_token_only(tmp_path):
    options = ("--transport", "streamable-http", "--port", 0)
    with served(
        "mcp", "--db", tmp_path / "memory.db", *options, COGNIGRAPH_MCP_TOKEN="s3cret"
    ) as server:
        url = server.url

        async def work(token: str) -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                said = {"text": "Ann likes tea.", "id": "m1"}
                await client.call_tool("add_memories", {"memories": [said]})
                return await client.call_tool("look_up", {"what": "memory", "id": "m1"})

        assert asyncio.run(work("s3cret")).content[0].text.endswith("\n  Ann likes tea.")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
            answer = httpx.post(url, json=HELLO, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        right = {"Authorization": "Bearer s3cret", "Accept": "application/json, text/event-stream"}
        for header in ({"Host": "attacker.example"}, {"Origin": "https://attacker.example"}):
            assert httpx.post(url, json=HELLO, headers={**right, **header}).status_code in (
                403,
                421,
            )


def test_another_machine_needs_a_token_and_a_free_port(tmp_path):
    def fails(*options: object) -> str:
        asked = ("mcp", "--db", "m.db", "--transport", "streamable-http", *options)
        done = run_here(*asked, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    assert "COGNIGRAPH_MCP_TOKEN" in fails("--host", "0.0.0.0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "choose another with --host and --port" in fails("--port", taken.getsockname()[1])
