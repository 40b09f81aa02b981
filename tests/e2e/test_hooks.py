"""Hooks of coding agents, as the agents run them: processes with JSON on standard input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from cognigraph import Memory, StoredMessage
from cognigraph.hooks.agents import PERSON, space_of
from cognigraph.hooks.spool import Spool
from cognigraph.stores import start_blocks
from tests.e2e.command_line import environment, run_here
from tests.unit.test_importers import SAID

pytestmark = pytest.mark.slow

FACT = "We decided to use PostgreSQL 16 for the billing service."
SECONDS = 60
DATA = Path(__file__).parents[1] / "data" / "imports"


class Agent:
    """A coding agent of a user with a home of their own, at work on a project."""

    def __init__(self, root: Path, name: str = "claude-code") -> None:
        self.name = name
        self.home = root / "home"
        self.project = root / "app"
        self.db = self.home / ".local/share/cognigraph/agents.db"
        self.spool = Spool(self.db)
        (self.project / ".git").mkdir(parents=True, exist_ok=True)
        self.home.mkdir(exist_ok=True)
        self.space = space_of(self.project)

    def environment(self, **extra: str) -> dict[str, str]:
        # An agent waits 0.1 s; the machine that runs the tests may be busy.
        own = {"COGNIGRAPH_HOOKS_STAY": "30", "COGNIGRAPH_HOOKS_WAIT": "20"}
        given = environment(HOME=str(self.home), **own | extra)
        for name in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            given.pop(name, None)
        return given

    def run(self, *words: str, stdin: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "cognigraph", *words],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            cwd=self.project,
            env=self.environment(**extra),
            timeout=SECONDS,
            check=False,
        )

    def here(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command that no agent runs, in this process."""
        return run_here(*words, folder=self.project, variables=self.environment())

    def hook(self, event: str, session: str = "s1", **given: Any) -> str:
        """What the hook prints."""
        base = {
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        done = self.run("hook", self.name, event, stdin=json.dumps(base | given))
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def transcript(self, session: str) -> Path:
        return self.home / f"{session}.jsonl"

    def say(self, role: str, id: str, content: Any, session: str = "s1", **more: Any) -> None:
        """Write a line as Claude Code does."""
        line = {
            "parentUuid": None, "isSidechain": False, "userType": "external",
            "cwd": str(self.project), "sessionId": session, "version": "2.1.0",
            "gitBranch": "main", "type": role, "uuid": id,
            "timestamp": "2026-05-20T09:00:00.000Z",
            "message": {"role": role, "content": content},
        }  # fmt: skip
        with self.transcript(session).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | more) + "\n")

    def messages(self, space: str | None = None) -> list[StoredMessage]:
        if not self.db.exists():
            return []
        with Memory(self.db, enrich="manual") as memory:
            return list(memory.space(space or self.space).messages(limit=1000))

    def pending(self) -> int:
        """How many messages of the project wait to be read for facts."""
        with Memory(self.db, enrich="manual") as memory:
            stats = memory.space(self.space).stats()
            return stats.pending + stats.summaries_pending

    def keeper(self) -> int | None:
        """The process in the background, by its lock."""
        for process in Path("/proc").iterdir():
            if process.name.isdecimal():
                try:
                    words = (process / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if b"--keep" in words and str(self.db).encode() in words:
                    return int(process.name)
        return None

    def settle(self) -> None:
        """Wait until all is stored."""
        wait_for(lambda: not self.spool.names())

    def be_ready(self) -> None:
        """Wait until all is stored, and what a conversation begins with is made of it."""
        self.settle()
        wait_for(lambda: start_blocks.outdated(str(self.db), self.space, PERSON) == {})

    def kill(self) -> None:
        """Kill the process in the background, and those that wait to be the one."""
        while (keeper := self.keeper()) is not None:
            os.kill(keeper, signal.SIGKILL)
            wait_for(partial(has_ended, keeper))


def has_ended(process: int) -> bool:
    """Whether a process has given up its lock and its socket: its last thread does."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
        threads = len([*Path(f"/proc/{process}/task").iterdir()])
    except OSError:
        return True
    return threads <= 1 and stat.rpartition(")")[2].split()[0] in "ZX"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with a short path: that of a socket may have about 100 characters."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def agent(root: Path) -> Iterator[Agent]:
    agent = Agent(root)
    yield agent
    agent.kill()


def test_a_conversation_is_remembered_in_the_next(agent: Agent) -> None:
    (agent.home / ".claude").mkdir()
    (agent.home / ".claude/CLAUDE.md").write_text("# Style\nCommit messages are in Norwegian.\n")
    assert agent.hook("SessionStart", source="startup") == ""
    assert agent.hook("UserPromptSubmit", prompt=FACT) == ""
    agent.say("user", "u1", FACT)
    agent.say("assistant", "a1", [{"type": "thinking", "thinking": "hm"}])
    agent.say("assistant", "a2", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}])
    agent.say("user", "u2", [{"type": "tool_result", "tool_use_id": "t", "content": "SECRET=1"}])
    agent.say("user", "u3", "<system-reminder>be brief</system-reminder>", isMeta=True)
    agent.say("assistant", "a3", [{"type": "text", "text": "Noted."}])
    assert agent.hook("Stop", last_assistant_message="Noted.") == ""
    agent.be_ready()
    assert [(m.id, m.role, m.session, m.text) for m in agent.messages()] == [
        ("u1", "user", "s1", FACT),
        ("a3", "assistant", "s1", "Noted."),
    ]
    assert [m.text for m in agent.messages(PERSON)] == [
        "# Style\nCommit messages are in Norwegian."
    ]

    assert agent.spool.socket_file.exists()  # the process answers, nothing is loaded anew
    asked = "Which database does the billing service use?"
    given = json.loads(agent.hook("UserPromptSubmit", "s2", prompt=asked))["hookSpecificOutput"]
    assert given["hookEventName"] == "UserPromptSubmit"
    block = given["additionalContext"]
    assert block.startswith("[memory]\n") and block.endswith("[/memory]")
    assert f"user: {FACT}" in block
    assert agent.hook("UserPromptSubmit", "s2", prompt="ok go on") == ""
    for source in ("startup", "resume", "compact"):
        start = json.loads(agent.hook("SessionStart", "s2", source=source))["hookSpecificOutput"]
        assert (start["hookEventName"], FACT in start["additionalContext"]) == (
            "SessionStart",
            True,
        )

    # What was recalled comes back in a message of its own: it is not stored again.
    agent.say("user", "u4", asked, "s2")
    agent.say("user", "u5", block, "s2")
    agent.say("assistant", "a5", "PostgreSQL 16.", "s2")
    agent.hook("PreCompact", "s2", trigger="auto", custom_instructions="")
    agent.say("assistant", "a6", "Anything else?", "s2")
    agent.hook("SessionEnd", "s2", reason="exit")
    agent.settle()
    assert [m.id for m in agent.messages()] == ["u1", "a3", "u4", "a5", "a6"]
    assert agent.spool.last_error() is None

    imported = agent.here(
        "import",
        str(agent.transcript("s2")),
        "--db",
        str(agent.db),
        "--space",
        agent.space,
        "--json",
    )
    report = json.loads(imported.stdout)
    assert (report["new"], report["known"]) == (1, 3)  # what was recalled is new to the import


def shown(printed: str) -> str:
    """The block in what a hook of Claude Code prints."""
    if not printed:
        return ""
    block: str = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    return block


def test_an_agent_never_waits_for_a_memory_to_be_loaded(agent: Agent) -> None:
    agent.say("user", "u1", FACT)
    agent.hook("Stop", last_assistant_message="")
    agent.be_ready()
    assert agent.db.stat().st_mode & 0o777 == 0o600
    asked = {"prompt": "Which database does the billing service use?", "session": "s2"}
    # Nobody listens: what a conversation begins with is ready, and a prompt goes on at once.
    agent.kill()
    assert f"user: {FACT}" in shown(agent.hook("SessionStart", "s2", source="startup"))
    agent.kill()
    assert agent.hook("UserPromptSubmit", **asked) == ""
    # The process listens when it can answer, not before.
    agent.kill()
    agent.spool.socket_file.unlink(missing_ok=True)
    agent.hook("Stop", "s2", last_assistant_message="")
    wait_for(agent.spool.socket_file.exists)
    assert FACT in shown(agent.hook("UserPromptSubmit", **asked))
    # It hangs: the agent goes on without it, and what was said is stored later.
    keeper = agent.keeper()
    assert keeper is not None
    os.kill(keeper, signal.SIGSTOP)
    begun = time.monotonic()
    agent.environment = partial(agent.environment, COGNIGRAPH_HOOKS_WAIT="0.1")  # type: ignore[method-assign]
    assert agent.hook("UserPromptSubmit", "s3", prompt="The port is 5000.") == ""
    assert time.monotonic() - begun < 3
    os.kill(keeper, signal.SIGCONT)
    agent.say("user", "u2", asked["prompt"], "s2")
    agent.say("user", "u3", "The port is 5000.", "s3")
    agent.settle()
    assert [m.id for m in agent.messages()] == ["u1", "u2", "u3"]


def test_what_is_forgotten_is_not_shown_when_a_conversation_begins(agent: Agent) -> None:
    agent.say("user", "u1", FACT)
    agent.say("user", "u2", "We deploy the billing service with Ansible.")
    agent.hook("Stop", last_assistant_message="")
    agent.be_ready()
    other = Agent(agent.home.parent)
    other.project = agent.home.parent / "other"
    (other.project / ".git").mkdir(parents=True)
    other.space = space_of(other.project)
    other.say("user", "o1", "The other project uses MySQL.", "o")
    other.hook("Stop", "o", last_assistant_message="")
    other.be_ready()
    agent.kill()
    begin = partial(agent.hook, "SessionStart", "s2", source="startup")
    assert FACT in shown(begin()) and "MySQL" not in shown(begin())
    agent.be_ready()
    agent.kill()
    words = ("--db", str(agent.db), "--space", agent.space)
    assert agent.here("forget", "--message", "u1", "--yes", *words).returncode == 0
    assert b"PostgreSQL 16" not in agent.db.read_bytes()
    assert not Path(f"{agent.db}-wal").exists()
    assert begin() == ""
    agent.be_ready()  # the process that was begun makes it anew
    agent.kill()
    block = shown(begin())
    assert "Ansible" in block and "PostgreSQL" not in block
    agent.be_ready()
    agent.kill()
    assert "MySQL" in shown(other.hook("SessionStart", "o2", source="startup"))
    # A process that is there notices it, too.
    agent.hook("Stop", last_assistant_message="")
    agent.be_ready()
    with Memory(agent.db, enrich="manual") as memory:
        memory.space(agent.space).update("u2", "We deploy the billing service with Nomad.")
    agent.be_ready()
    assert "Nomad" in shown(begin()) and "Ansible" not in shown(begin())
    agent.kill()
    with Memory(agent.db, enrich="manual") as memory:
        memory.admin.delete_space(agent.space)
    assert begin() == ""


def test_a_memory_may_have_a_long_path(agent: Agent) -> None:
    agent.db = agent.home / ("a" * 120) / ("b" * 120) / "agents.db"
    agent.spool = Spool(agent.db)
    agent.environment = partial(agent.environment, COGNIGRAPH_DB=str(agent.db))  # type: ignore[method-assign]
    agent.say("user", "u1", FACT)
    agent.hook("Stop", last_assistant_message="")
    agent.be_ready()
    wait_for(agent.spool.socket_file.exists)
    asked = "Which database does the billing service use?"
    assert FACT in shown(agent.hook("UserPromptSubmit", "s2", prompt=asked))


def test_nothing_is_lost_or_stored_twice_when_the_process_is_killed(agent: Agent) -> None:
    for number in range(20):
        agent.say("user", f"u{number}", f"Requirement {number}: port {4000 + number} is taken.")
        if number % 6 == 0:
            agent.hook("Stop", last_assistant_message="")
        if number % 6 == 3:
            wait_for(lambda: agent.keeper() is not None or not agent.spool.names())
            time.sleep(0.3 * (number % 4))  # at different stages
            agent.kill()
    agent.hook("SessionEnd", reason="exit")
    agent.settle()
    assert [m.id for m in agent.messages()] == [f"u{number}" for number in range(20)]
    # A crash between storing an event and deleting it: it is stored once more, to no effect.
    agent.kill()
    agent.spool.read_file.unlink()
    agent.hook("Stop", last_assistant_message="")
    agent.settle()
    assert len(agent.messages()) == 20


def test_a_prompt_waits_for_its_transcript(agent: Agent) -> None:
    agent.hook("UserPromptSubmit", prompt=FACT)
    wait_for(agent.spool.socket_file.exists)
    time.sleep(1.5)
    assert len(agent.spool.names()) == 1
    agent.say("user", "u1", FACT)
    agent.settle()
    assert [m.id for m in agent.messages()] == ["u1"]
    # Where no transcript is ever written, what the event says is stored.
    agent.hook("UserPromptSubmit", "s9", prompt="The port is 5000.")
    agent.hook("SessionEnd", "s9", reason="exit")
    agent.settle()
    assert [(m.session, m.text) for m in agent.messages()][1:] == [("s9", "The port is 5000.")]


def test_two_sessions_at_once_use_one_process(agent: Agent) -> None:
    def talk(session: str) -> None:
        for number in range(4):
            agent.say("user", f"{session}-{number}", f"{session} step {number}.", session)
            agent.hook("Stop", session, last_assistant_message="")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(talk, ("one", "two")))
    agent.settle()
    stored = sorted(m.id for m in agent.messages())
    assert stored == [f"{session}-{number}" for session in ("one", "two") for number in range(4)]
    assert agent.spool.last_error() is None


@pytest.mark.parametrize("stdin", ["", "no json", "[]", "{}", '{"session_id": 7}'])
def test_an_agent_is_never_disturbed(agent: Agent, stdin: str) -> None:
    for event in ("UserPromptSubmit", "Unknown"):
        done = agent.run("hook", "claude-code", event, stdin=stdin)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if stdin in ("", "no json"):
        assert "JSONDecodeError" in (agent.spool.last_error() or "")


def test_a_memory_that_cannot_be_opened_is_logged_and_nothing_is_lost(agent: Agent) -> None:
    agent.db.parent.mkdir(parents=True)
    agent.db.write_text("this is no database " * 100)
    assert agent.hook("UserPromptSubmit", prompt=FACT) == ""
    wait_for(lambda: "--keep" in (agent.spool.last_error() or ""))
    agent.db.unlink()
    agent.say("user", "u1", FACT)
    agent.hook("Stop", last_assistant_message="")
    agent.settle()
    assert [m.id for m in agent.messages()] == ["u1"]


def test_a_broken_event_is_set_aside(agent: Agent) -> None:
    agent.spool.events.mkdir(parents=True)
    (agent.spool.events / "0-1.json").write_text('{"agent": ')
    agent.say("user", "u1", FACT)
    agent.hook("Stop", last_assistant_message="")
    agent.settle()
    assert [m.id for m in agent.messages()] == ["u1"]
    status = agent.here("hooks", "status", "--json")
    assert status.returncode == 1
    report = json.loads(status.stdout)
    assert (report["set_aside"], report["waiting"]) == (1, 0)
    assert "0-1.json is set aside" in report["last_error"]


@pytest.mark.parametrize(
    ("name", "prompt", "answer"),
    [
        (
            "codex",
            ("UserPromptSubmit", {"prompt": FACT, "turn_id": "t1", "transcript_path": None}),
            ("Stop", {"last_assistant_message": "Noted.", "turn_id": "t1",
                      "transcript_path": None}),
        ),
        (
            "gemini",
            ("BeforeAgent", {"prompt": FACT, "timestamp": "2026-05-20T09:00:00.000Z",
                             "transcript_path": "/chats/session-1.json"}),
            ("AfterAgent", {"prompt": FACT, "prompt_response": "Noted.",
                            "timestamp": "2026-05-20T09:00:09.000Z",
                            "transcript_path": "/chats/session-1.json"}),
        ),
        (
            "cursor",
            ("beforeSubmitPrompt", {"prompt": FACT, "generation_id": "g", "cursor_version": "3"}),
            ("afterAgentResponse", {"text": "Noted.", "generation_id": "g", "cursor_version": "3"}),
        ),
    ],
)  # fmt: skip
def test_agents_without_a_transcript_say_it_in_the_event(
    root: Path, name: str, prompt: tuple[str, Any], answer: tuple[str, Any]
) -> None:
    agent = Agent(root, name)
    start = "sessionStart" if name == "cursor" else "SessionStart"
    block = f"[memory]\nMessages:\n[C1] 2026-05-20 09:00 s0 user: {FACT}\n[/memory]\n"
    for _ in range(2):  # a repeated event changes nothing
        assert agent.hook(prompt[0], **prompt[1]) == ""
        assert agent.hook(answer[0], **answer[1]) == ""
    field = next(
        key for key in ("last_assistant_message", "prompt_response", "text") if key in answer[1]
    )
    agent.hook(answer[0], **answer[1] | {field: block})
    agent.settle()
    assert [(m.role, m.text) for m in agent.messages()] == [("user", FACT), ("assistant", "Noted.")]
    agent.be_ready()
    given = json.loads(agent.hook(start, "s2", source="startup"))
    agent.kill()
    shown = (
        given["additional_context"]
        if name == "cursor"
        else given["hookSpecificOutput"]["additionalContext"]
    )
    assert FACT in shown


@pytest.mark.parametrize(
    ("name", "file", "prompt", "answer", "ids"),
    [
        ("codex", "rollout-2026-05-20T09-00-00-01a0f082-0630-7d50-a1b2-c3d4e5f6a7b8.jsonl",
         "UserPromptSubmit", "Stop", None),
        ("gemini", "session-2026-05-20T09-00-5f2c0d4e.jsonl", "BeforeAgent", "AfterAgent",
         ["g1", "g2", "g6", "g7"]),
    ],
)  # fmt: skip
def test_transcripts_are_watched_as_they_grow(
    root: Path, name: str, file: str, prompt: str, answer: str, ids: list[str] | None
) -> None:
    agent = Agent(root, name)
    lines = (DATA / file).read_text("utf-8").splitlines(keepends=True)
    transcript = agent.home / file
    given = {"transcript_path": str(transcript), "timestamp": "2099-01-01T00:00:00.000Z"}
    text = {"last_assistant_message": "PostgreSQL 16.", "prompt_response": "PostgreSQL 16."}
    agent.hook(prompt, prompt="Which database does the billing service use?", **given)
    for end in (2, 8, 9, len(lines)):  # without a message, within one turn, within the next
        transcript.write_text("".join(lines[:end]), "utf-8")
        agent.hook(answer, **given, **text)
    agent.hook(answer, **given, **text, agent_id="a1")  # of a sub-agent: ignored
    agent.settle()
    stored = agent.messages()
    assert len(stored) == len(ids or SAID)
    if ids:
        assert [message.id for message in stored] == ids
    else:
        assert [(message.role, message.text) for message in stored] == SAID
    agent.kill()
    words = ("import", str(transcript), "--db", str(agent.db), "--space", agent.space, "--json")
    session = ("--session", stored[0].session)
    report = json.loads(agent.here(*words, *session).stdout)
    assert (report["new"], report["known"], report["rejected"]) == (0, len(stored), [])


def test_install_and_remove_leave_the_settings_as_they_were(agent: Agent) -> None:
    path = agent.home / ".claude/settings.json"
    path.parent.mkdir()
    mine = b'{\n   "model": "opus", // mine\n   "hooks": {"Stop": [{"hooks": []}]}\n}\n\n'
    path.write_bytes(mine)
    path.chmod(0o640)
    dry = agent.here("hooks", "install", "claude-code", "--dry-run")
    assert "hook claude-code PreCompact" in dry.stdout
    assert path.read_bytes() == mine
    assert agent.here("hooks", "install", "claude-code").returncode == 0
    written = path.read_bytes()
    assert b"// mine" in written and written.count(b" hook claude-code ") == 5
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.with_name("settings.json.cognigraph-backup").read_bytes() == mine
    assert agent.here("hooks", "install", "claude-code").returncode == 0
    assert path.read_bytes() == written
    (row,) = json.loads(agent.here("hooks", "status", "--json").stdout)["installed"]
    assert (row["agent"], row["file"], len(row["events"])) == ("claude-code", str(path), 5)
    assert agent.here("hooks", "remove", "claude-code").returncode == 0
    assert path.read_bytes() == mine
    assert json.loads(agent.here("hooks", "status", "--json").stdout)["installed"] == []

    path.write_text('{"model": ')
    refused = agent.here("hooks", "install", "claude-code")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"cognigraph: error: {path} is left as it is: ")
    assert path.read_text() == '{"model": '

    local = agent.project / ".claude/settings.local.json"
    assert agent.here("hooks", "install", "claude-code", "--project").returncode == 0
    assert local.exists()
    assert agent.here("hooks", "remove", "claude-code", "--project").returncode == 0
    assert not local.exists()


def test_the_installed_command_works(agent: Agent) -> None:
    assert agent.run("hooks", "install", "claude-code", "--db", "other.db").returncode == 0
    given = json.loads((agent.home / ".claude/settings.json").read_text())
    (group,) = given["hooks"]["Stop"]
    (hook,) = group["hooks"]
    agent.say("user", "u1", FACT)
    event = {"session_id": "s1", "transcript_path": str(agent.transcript("s1")), "cwd": "/"}
    done = subprocess.run(
        hook["command"], shell=True, input=json.dumps(event), capture_output=True,
        encoding="utf-8", env=agent.environment(), check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    agent.db = agent.project / "other.db"
    agent.spool = Spool(agent.db)
    agent.settle()
    assert [m.id for m in agent.messages(space_of(Path("/")))] == ["u1"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("version", ["1", "2"])
def test_the_plugin_of_opencode_remembers(root: Path, version: str) -> None:
    """Its host is played by ``opencode_host.mjs``, as the plugin interfaces describe it."""
    agent = Agent(root, "opencode")
    plugin = agent.home / ".config/opencode/plugins/cognigraph.js"

    def talk(session: str, text: str, answer: str) -> list[str]:
        words = ["node", str(Path(__file__).with_name("opencode_host.mjs")), str(plugin), version,
                 str(agent.project), session, text, answer]  # fmt: skip
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", env=agent.environment(), timeout=SECONDS,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        found: list[str] = json.loads(done.stdout)
        return found

    def environment(**extra: str) -> dict[str, str]:
        given = Agent.environment(agent, **extra)
        given.pop("XDG_CONFIG_HOME", None)
        return given

    agent.environment = environment  # type: ignore[method-assign]
    assert agent.here("hooks", "install", "opencode").returncode == 0
    (row,) = json.loads(agent.here("hooks", "status", "--json").stdout)["installed"]
    assert (row["agent"], row["file"]) == ("opencode", str(plugin))
    assert talk("s1", FACT, "Noted.") == []
    agent.settle()
    assert [(m.role, m.text) for m in agent.messages()] == [("user", FACT), ("assistant", "Noted.")]
    wait_for(lambda: not agent.pending())  # what is read for facts makes the block outdated
    agent.be_ready()
    wait_for(agent.spool.socket_file.exists)
    blocks = talk("s2", "Which database does the billing service use?", "PostgreSQL 16.")
    assert len(blocks) == 2 and all(FACT in block for block in blocks)
    assert talk("sub1", "Look through the code.", "Done.") == []
    agent.settle()
    assert [m.id for m in agent.messages()][:2] == ["m1", "p1" if version == "1" else "m2-0"]
    assert "Look through the code." not in [m.text for m in agent.messages()]
    agent.kill()
    assert agent.here("hooks", "remove", "opencode").returncode == 0
    assert not plugin.exists()
    plugin.write_text("export default {}")
    refused = agent.here("hooks", "install", "opencode")
    assert (refused.returncode, plugin.read_text()) == (2, "export default {}")
    assert "not a plugin of cognigraph" in refused.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_plugin_of_opencode_recalls_before_it_stores_the_first_prompt(tmp_path: Path) -> None:
    """What a conversation begins with is out of date as soon as the prompt is stored."""
    log = tmp_path / "log"
    hook = tmp_path / "hook.sh"
    hook.write_text(f'echo "$1 begins" >> {log}; sleep .1; echo "$1 ends" >> {log}\n', "utf-8")
    plugin = tmp_path / "plugin.js"
    source = files("cognigraph.hooks").joinpath("opencode.js").read_text("utf-8")
    command = json.dumps(["sh", str(hook)])
    plugin.write_text(source.replace("const COMMAND = [];", f"const COMMAND = {command};"), "utf-8")
    host = str(Path(__file__).with_name("opencode_host.mjs"))
    subprocess.run(
        ["node", host, str(plugin), "2", str(tmp_path), "s1", "Which database?", "PostgreSQL."],
        check=True, timeout=SECONDS, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert log.read_text("utf-8").splitlines()[:4] == [
        "session.start begins", "session.start ends",
        "session.prompt begins", "session.prompt ends",
    ]  # fmt: skip
