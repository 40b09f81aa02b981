"""``cognigraph hooks``: memory for coding agents, through their hooks."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import Any

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.errors import ConfigurationError
from cognigraph.hooks import settings
from cognigraph.hooks.agents import AGENTS, Agent, project_of, space_of
from cognigraph.hooks.handover import absolute, default_db
from cognigraph.hooks.spool import Spool

_HOOKS = """\
Give a coding agent a memory, whether it thinks of it or not: what you and the agent say is stored,
and what is remembered of this project and of you is shown to it when a conversation begins and when
you say something. `install` adds commands to the agent's settings, `remove` takes exactly these out
again, `status` says what is installed, what waits to be stored and the last error. Each project is
a space of one file (~/.local/share/cognigraph/agents.db, or COGNIGRAPH_DB, or --db)."""


def add_hooks(command: Any) -> None:
    """Describe the command to the parser."""
    hooks = command("hooks", "give a coding agent a memory, through its hooks", _HOOKS)
    hooks.add_argument("action", choices=("install", "remove", "status"), metavar="ACTION",
                       help="install, remove or status")  # fmt: skip
    hooks.add_argument("agent", nargs="?", choices=tuple(AGENTS), metavar="AGENT",
                       help=", ".join(AGENTS))  # fmt: skip
    hooks.add_argument(
        "--project", action="store_true", help="the settings of this project, not the user's"
    )
    hooks.add_argument("--dry-run", action="store_true", help="only show what would change")


def hooks(run: CommandRun) -> int:
    """Install, remove or describe hooks."""
    if not run.options.is_file:
        raise ConfigurationError("the memory of coding agents is a file; give its path with --db")
    if run.arguments.action == "status":
        return _status(run)
    if run.arguments.agent is None:
        agents = ", ".join(AGENTS)
        raise ConfigurationError(f"hooks {run.arguments.action} needs an agent: {agents}")
    return _change(run, AGENTS[run.arguments.agent])


def _change(run: CommandRun, agent: Agent) -> int:
    project = project_of(Path.cwd()) if run.arguments.project else None
    path = settings.settings_file(agent, project)
    before = settings.read(path)
    try:
        after = _after(run, agent, before)
    except ValueError as error:
        raise ConfigurationError(f"{path} is left as it is: {error}") from error
    changes = before != after
    if changes and not run.arguments.dry_run:
        settings.write(path, after)
    run.terminal.document(
        {"agent": agent.name, "file": str(path), "changed": changes, "text": after}
    )
    if run.arguments.dry_run:
        run.terminal.write(_difference(path, before, after))
    elif not changes:
        run.terminal.note(f"{path}: nothing to {run.arguments.action}")
    else:
        _say(run, agent, path, before)
    return OK


def _after(run: CommandRun, agent: Agent, before: str | None) -> str | None:
    if run.arguments.action == "remove":
        return None if before is None else settings.removed(before, agent)
    db = Path(run.options.chosen_db).expanduser().absolute() if run.options.chosen_db else None
    if before is not None and not agent.plugin:
        wanted = {event: settings.command(agent, event, db) for event in agent.events}
        if settings.installed(before, agent) == wanted:
            return before
    return settings.added(before, agent, db)


def _difference(path: Path, before: str | None, after: str | None) -> str:
    old, new = ((text or "").splitlines() for text in (before, after))
    rows = unified_diff(old, new, str(path), str(path), lineterm="")
    return "\n".join(rows) or "nothing to change"


def _say(run: CommandRun, agent: Agent, path: Path, before: str | None) -> None:
    if run.arguments.action == "remove":
        run.terminal.show(render.text(f"removed the hooks of cognigraph from {path}"))
        return
    events = ", ".join(agent.events)
    run.terminal.show(render.text(f"wrote hooks for {events} to {path}"))
    if before is not None:
        run.terminal.note(f"the file from before is {path}{settings.BACKUP}")
    if agent.name == "codex":
        run.terminal.note("Codex asks once whether to trust them: run /hooks in it")


def _status(run: CommandRun) -> int:
    chosen = run.options.chosen_db
    spool = Spool(absolute(chosen) if chosen else default_db())
    project = project_of(Path.cwd())
    names = [run.arguments.agent] if run.arguments.agent else list(AGENTS)
    found = [
        _installed(AGENTS[name], settings.settings_file(AGENTS[name], where), where is not None)
        for name in names
        for where in (None, project)
    ]
    failed = len(list(spool.failed.iterdir())) if spool.failed.is_dir() else 0
    report = {
        "installed": [row for row in found if row["events"] or row["problem"]],
        "memory": str(spool.db),
        "space": space_of(project),
        "waiting": len(spool.names()),
        "set_aside": failed,
        "last_error": spool.last_error(),
    }
    run.terminal.document(report)
    table = render.table("agent", "settings", "events")
    for row in report["installed"]:  # type: ignore[attr-defined]
        said = row["problem"] or ", ".join(row["events"])
        table.add_row(*map(render.text, (row["agent"], row["file"], said)))
    if report["installed"]:
        run.terminal.show(table)
    else:
        run.terminal.show(render.text("no hooks are installed"))
    for name in ("memory", "space", "waiting", "set_aside", "last_error"):
        value = report[name]
        if value is not None:
            run.terminal.show(render.text(f"{name.replace('_', ' ')}: {value}"))
    return FOUND_PROBLEM if failed or any(row["problem"] for row in found) else OK


def _installed(agent: Agent, path: Path, is_project: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"agent": agent.name, "file": str(path), "project": is_project}
    text = settings.read(path)
    try:
        commands = {} if text is None else settings.installed(text, agent)
    except ValueError as error:
        return row | {"events": [], "problem": str(error)}
    gone = [path for text in commands.values() for path in settings.gone(text)]
    problem = f"{gone[0]} is gone; install again" if gone else None
    return row | {"events": list(commands), "problem": problem}
