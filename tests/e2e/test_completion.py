"""Completion in the real shells: each loads its script and is asked what it would offer."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cognigraph.cli.completion import SHELLS, script_for
from cognigraph.cli.parser import build_parser

SECONDS = 60

LINES = {
    "imp": {"import"},
    "--db x.db se": {"search", "serve", "sessions", "setup"},
    "--space search --json expo": {"export", "export-training"},
    "import notes --dr": {"--dry-run"},
    "import a --format cl": {"claude", "claude-code"},
    "search x --ranking ": {"default", "licomemory"},
    "keys ": {"create", "list", "revoke", "rotate"},
    "completion z": {"zsh"},
    "add x --forma": set(),
    "export --db my": {"my.db"},
}
"""What follows ``cognigraph`` on a line, and the words that a shell offers at its end."""

ZSH = """\
autoload -Uz compinit && compinit -D
. {script}
# Write down what is offered instead of showing it.
compadd() {{
  case " $* " in (*" -O "*|*" -A "*|*" -D "*) builtin compadd "$@"; return ;; esac
  local -a found
  builtin compadd -A found "$@"
  (( $#found )) && print -rl -- $found >> {out}
}}
finished() {{ print -r -- "$BUFFER|END" >> {out}; compstate[insert]=""; compstate[list]="" }}
comppostfuncs=(finished)
write() {{ comppostfuncs=(finished); zle complete-word }}
zle -N write
bindkey '^I' write
PS1=
print READY >> {out}
"""


def bash(folder: Path, script: Path, line: str) -> set[str]:
    words = ["cognigraph", *line.split(" ")]
    code = (
        f"source {script}; COMP_WORDS=({' '.join(map(repr, words))}); "
        f"COMP_CWORD={len(words) - 1}; _cognigraph; printf '%s\\n' \"${{COMPREPLY[@]}}\"; "
        # With `-o default` bash offers files itself where the function has nothing.
        f'[ "${{#COMPREPLY[@]}}" -gt 0 ] || compgen -f -- {words[-1]!r}'
    )
    return set(asked(["bash", "--norc", "-c", code], folder))


def asked(command: list[str], folder: Path) -> list[str]:
    environment = os.environ | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return [row for row in done.stdout.splitlines() if row]


def zsh(folder: Path, script: Path, line: str) -> set[str]:
    """zsh completes only in its line editor, so it gets a terminal and a key press."""
    out, start = folder / ".out", folder / ".start"
    out.write_text("")
    start.write_text(ZSH.format(script=script, out=out))
    ours, theirs = pty.openpty()
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "TERM": "dumb"}
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
        env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        os.write(ours, f". {start}\n".encode())
        wait(lambda: "READY" in out.read_text(), ours)
        os.write(ours, f"cognigraph {line}\t".encode())
        wait(lambda: "|END" in out.read_text(), ours)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
    return {row for row in out.read_text().splitlines() if row != "READY" and "|END" not in row}


def wait(until: Callable[[], bool], terminal: int) -> None:
    """Wait for a shell, and read what it shows so that it never waits for us."""
    end = time.monotonic() + SECONDS
    shown = b""
    while not until():
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 0.02)[0]:
            shown += os.read(terminal, 4096)


ASK = {"bash": bash, "zsh": zsh}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_options_and_values(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f".{shell}"
    script.write_text(script_for(shell, build_parser()), "utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "my.db").touch()
    offered = {line: ASK[shell](folder, script, line) for line in LINES}
    assert offered == LINES
