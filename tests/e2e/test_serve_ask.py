"""``cognigraph serve`` answers /ask with the model of the environment."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.e2e.command_line import command, environment
from tests.servers.loop_stages import LoopStages
from tests.servers.model_server import ModelServer

pytest.importorskip("fastapi")
pytestmark = pytest.mark.slow


def post(url: str, body: dict[str, str]) -> Any:
    sent = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(sent, timeout=60) as answer:
        return json.load(answer)


def test_ask_is_answered_by_the_model_of_the_environment(tmp_path: Path) -> None:
    stages = LoopStages(
        lico_missing=[{"verdict": "enough", "missing": "", "queries": []}],
        loop_answer={"answer": "Oslo", "labels": []},
    )
    with ModelServer(stages) as model:
        served = subprocess.Popen(
            command("serve", "--port", "0", "--db", tmp_path / "ann.db", "--extractor", "rules"),
            stderr=subprocess.PIPE,
            text=True,
            env=environment(COGNIGRAPH_MODEL="test", OPENAI_BASE_URL=model.url),
        )
        try:
            assert served.stderr is not None
            (address,) = re.findall(r"http://\S+", served.stderr.readline())
            space = f"{address}/v1/spaces/ann"
            post(f"{space}/messages", {"text": "I live in Oslo.", "speaker": "Ann"})
            answer = post(f"{space}/ask", {"question": "Where does Ann live?"})
            assert (answer["text"], answer["stopped"]) == ("Oslo", "answered")
            assert model.calls == 2
        finally:
            served.terminate()
            served.communicate(timeout=60)
