"""Making a model: arguments, the environment, the extra, processes, and the scripted double."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest

pytest.importorskip("openai")

from pydantic import BaseModel

import cognigraph.llm
from cognigraph import ConfigurationError, ModelAnswerError, ModelError, ModelUnavailableError
from cognigraph.llm import ChatModel, Model, Prompt
from cognigraph.testing import Asked, ScriptedModel
from tests.cases import each
from tests.servers.model_server import ModelServer, good

PROMPT = Prompt("extract", "1", "You read.", "Ann moved to Oslo.")
LOCAL = "http://127.0.0.1:9/v1"


class Facts(BaseModel):
    facts: list[str]


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


def test_what_is_public_is_sorted_and_importable():
    names = cognigraph.llm.__all__
    assert names == sorted(names)
    for name in names:
        assert getattr(cognigraph.llm, name).__doc__ or name == "Mode"


@each(
    ("arguments", "message"),
    [
        ({}, "OPENAI_API_KEY"),
        ({"api_key": ""}, "OPENAI_API_KEY"),
        ({"base_url": "localhost:11434"}, "must be a URL such as http"),
        ({"base_url": ""}, "must be a URL such as http"),
        ({"base_url": "http://"}, "must be a URL such as http"),
        ({"base_url": "http://host:99999/v1"}, "must be a URL such as http"),
        ({"base_url": "http://[::1/v1"}, "must be a URL such as http"),
        ({"base_url": "file:///etc"}, "must be a URL such as http"),
        ({"base_url": LOCAL, "timeout": timedelta(0)}, "must be positive"),
        ({"base_url": LOCAL, "attempts": 0}, "must be positive"),
        ({"base_url": LOCAL, "max_output_tokens": 0}, "must be positive"),
        ({"base_url": LOCAL, "mode": "xml"}, "unknown mode"),
        ({"base_url": LOCAL, "temperature": float("nan")}, "temperature"),
    ],
)
def test_invalid_arguments_are_reported_at_once(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        ChatModel("m", **arguments)
    with pytest.raises(ConfigurationError, match="name of a model is required"):
        ChatModel("", base_url=LOCAL)


@each("key", ["sk-secret\n", "sk secret", "sk-secrét", "sk-\0"])
def test_an_invalid_key_is_not_repeated_in_the_error(key):
    with pytest.raises(ConfigurationError, match="pasted correctly") as caught:
        ChatModel("m", api_key=key)
    assert key not in str(caught.value)


def test_two_environment_variables_suffice():
    local = ChatModel.from_environment({"COGNIGRAPH_MODEL": "m", "OPENAI_BASE_URL": LOCAL})
    assert (local.name, repr(local)) == ("m", "<ChatModel m at http://127.0.0.1:9/v1>")
    hosted = ChatModel.from_environment({"COGNIGRAPH_MODEL": "m", "OPENAI_API_KEY": " sk-1 "})
    assert repr(hosted) == "<ChatModel m at https://api.openai.com/v1>"
    for environ in ({}, {"COGNIGRAPH_MODEL": " "}, {"OPENAI_API_KEY": "sk-1"}):
        with pytest.raises(ConfigurationError, match="COGNIGRAPH_MODEL"):
            ChatModel.from_environment(environ)
    with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL"):
        ChatModel.from_environment({"COGNIGRAPH_MODEL": "m"})


def test_the_environment_may_name_prices_and_arguments_go_first(monkeypatch):
    environ = {
        "COGNIGRAPH_MODEL": "m", "OPENAI_BASE_URL": LOCAL, "COGNIGRAPH_MODEL_PRICES": "1000000,0"
    }  # fmt: skip
    with ModelServer(good({"facts": []})) as server:
        model = ChatModel.from_environment(environ, base_url=server.url)
        with model:
            assert model.ask(PROMPT, Facts).usage.cost == 100.0
    with pytest.raises(ConfigurationError, match="two or three numbers"):
        ChatModel.from_environment(environ | {"COGNIGRAPH_MODEL_PRICES": "cheap"})
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert ChatModel.from_environment().name == "m"


def test_the_openai_account_is_not_sent_to_other_endpoints(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with ModelServer(good({"facts": []})) as server, ChatModel("m", base_url=server.url) as model:
        model.ask(PROMPT, Facts)
        (request,) = server.requests
    assert not [name for name in request.headers if name.lower().startswith("openai")]
    assert request.headers["Authorization"] == "Bearer no-key"


@pytest.mark.slow
def test_without_the_extra_everything_else_works():
    code = """
import sys
sys.modules["openai"] = sys.modules["pydantic"] = None
import cognigraph, cognigraph.llm, cognigraph.testing
try:
    cognigraph.llm.ChatModel("m", base_url="http://127.0.0.1:9/v1")
except cognigraph.ConfigurationError as error:
    print(error)
"""
    done = python(code, "-W", "error")
    assert done.stdout.strip() == (
        "a language model needs an extra: pip install 'cognigraph-memory[openai]'"
    ), done.stderr


ASK = """
import sys
from pydantic import BaseModel
from cognigraph.llm import ChatModel, Prompt
class Facts(BaseModel):
    facts: list[str]
model = ChatModel("m", base_url=sys.argv[1] if len(sys.argv) > 1 else {url!r})
prompt = Prompt("p", "1", "", "x")
print(model.ask(prompt, Facts).value.facts, flush=True)
"""


@pytest.mark.slow
@pytest.mark.slow
def test_a_process_ends_normally_without_closing_a_model():
    with ModelServer(good({"facts": ["a"]})) as server:
        done = python(ASK.format(url=server.url), "-X", "dev", "-W", "error")
    assert (done.returncode, done.stdout) == (0, "['a']\n")
    warned = [line for line in done.stderr.splitlines() if "Executing <Task" not in line]
    assert warned == []  # asyncio's debug mode remarks that imports are slow


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_makes_connections_of_its_own():
    code = (
        ASK
        + """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
pid = os.fork()
if pid == 0:
    print(model.ask(prompt, Facts).value.facts, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(model.ask(prompt, Facts).value.facts, flush=True)
"""
    )
    with ModelServer(good({"facts": ["a"]})) as server:
        done = python(code.format(url=server.url))
        assert (done.returncode, done.stdout) == (0, "['a']\n" * 3), done.stderr
        assert server.calls == 3


def test_a_model_may_be_closed_and_used_again():
    with ModelServer(good({"facts": []})) as server:
        model = ChatModel("m", base_url=server.url)
        for _ in range(3):
            model.ask(PROMPT, Facts)
            model.close()
        model.close()


# The scripted double.


def test_scripted_answers_one_after_another():
    model = ScriptedModel([{"facts": ["a"]}, "Here: {'facts': ['b'],}", Facts(facts=["c"])])
    found: Model = model
    assert [found.ask(PROMPT, Facts).value.facts for _ in range(3)] == [["a"], ["b"], ["c"]]
    assert model.asked == (Asked(PROMPT, Facts),) * 3
    with pytest.raises(ModelError, match="no answer number 4 to 'extract'"):
        model.ask(PROMPT, Facts)


def test_scripted_by_a_function_of_the_prompt():
    model = ScriptedModel(lambda prompt: {"facts": [prompt.user]}, name="echo")
    answer = model.ask(PROMPT, Facts)
    assert answer.value.facts == ["Ann moved to Oslo."]
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.seconds) == (1, 8, 0.0)
    assert answer.usage == model.ask(PROMPT, Facts).usage
    assert model.name == "echo"


def test_scripted_failures():
    model = ScriptedModel([ModelUnavailableError("down"), "nonsense", '{"facts": ["a", 1, "b'])
    with pytest.raises(ModelUnavailableError, match="down"):
        model.ask(PROMPT, Facts)
    with pytest.raises(ModelAnswerError, match="no JSON object") as caught:
        model.ask(PROMPT, Facts)
    assert caught.value.usage.calls == 1
    answer = model.ask(PROMPT, Facts)
    assert answer.value.facts == ["a"] and answer.cut_off and len(answer.dropped) == 2
