"""The parser of the command line: all commands, and one line for what is wrong."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn

from cognigraph._version import __version__
from cognigraph.cli.completion import SHELLS
from cognigraph.cli.evaluating import add_training
from cognigraph.cli.hooks import add_hooks
from cognigraph.cli.keys import add_key_file, add_keys
from cognigraph.cli.options import DERIVED, add_kinds, amount, count, port, whole
from cognigraph.cli.serving import add_setup
from cognigraph.cli.terminal import one_line
from cognigraph.evaluate.formats import FORMATS
from cognigraph.importers.formats import AUTO, READERS
from cognigraph.loop.strategy import STRATEGIES
from cognigraph.text.redaction import redacted

_CHOICES = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
_LONG_MESSAGE = 200


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, and with ``--json`` also as JSON."""

    is_json = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, but refuse what a command does not know, with its own help."""
        self._check_common(sys.argv[1:] if args is None else args)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(_unknown(unknown, self._option_string_actions))
        return found, unknown

    def _check_common(self, args: Sequence[str]) -> None:
        """Refuse an unknown option before the command, whose value would be taken for one."""
        actions = self._subparsers._group_actions if self._subparsers else []
        commands = [name for action in actions for name in action.choices or ()]
        for word in args if commands else ():
            if word in commands or word == "--":
                return
            if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions:
                self.error(_unknown([word], self._option_string_actions))

    def error(self, message: str) -> NoReturn:
        """End the program with the exit code for wrong usage."""
        text = f"{one_line(redacted(_brief(message)))} (see `{self.prog} --help`)"
        if self.is_json:
            document = {"type": "UsageError", "message": text, "exit_code": 2}
            sys.stdout.write(json.dumps({"error": document}, indent=2) + "\n")
        self.exit(2, f"cognigraph: error: {text}\n")


def _unknown(words: Sequence[str], options: Collection[str]) -> str:
    """Say which arguments are unknown, and which option is spelled like the first."""
    wrong = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
    long = [name for name in options if name.startswith("--")]
    # All options begin with the same dashes, which must not count as a likeness.
    near = get_close_matches(wrong.lstrip("-"), [name[2:] for name in long], 2, 0.7)
    near += [name[2:] for name in long if wrong == name[: len(wrong)] and len(wrong) > 3]
    names = [repr(f"--{name}") for name in dict.fromkeys(near)][:2] if wrong else []
    if wrong.startswith("--") and wrong[1:] in options:
        names = [repr(wrong[1:])]
    hint = f" (did you mean {' or '.join(names)}?)" if names else ""
    return f"unrecognized arguments: {' '.join(words)}{hint}"


def _brief(message: str) -> str:
    """Name the choices that are spelled like a wrong one; without such, all if they are few."""
    found = _CHOICES.search(message)
    if found is None:
        return message
    wrong, choices = found.groups()
    names = [name.strip("'") for name in choices.split(", ")]
    near = [repr(name) for name in get_close_matches(wrong, names, 2)]
    if not near and len(message) <= _LONG_MESSAGE:
        return message
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return f"{message[: found.start()]}invalid choice: {wrong!r}{hint}"


_DESCRIPTION = """\
Graph memory for LLM agents: store conversations, inspect the resulting graph, ask questions.
Start with: cognigraph demo"""

_EPILOG = """\
environment:
  COGNIGRAPH_DB, COGNIGRAPH_SPACE, COGNIGRAPH_AUTH,     defaults of --db, --space, --auth,
  COGNIGRAPH_EMBEDDER, COGNIGRAPH_EXTRACTOR             --embedder, --extractor
  COGNIGRAPH_KEYS, COGNIGRAPH_MCP_TOKEN                 key file of serve, token of mcp
  COGNIGRAPH_DEBUG=1                                    show tracebacks and log messages
  NO_COLOR=1                                            no colours

exit codes:
  0 done   1 nothing found, or a check failed, or some messages were left out
  2 wrong usage or input   3 the store cannot be used   130 interrupted"""


@cache
def build_parser() -> argparse.ArgumentParser:
    """Build the parser, once. Common options may come before or after the command."""
    common = _common()
    parser = Parser(
        prog="cognigraph",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        parents=[common],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"cognigraph {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def command(name: str, help: str, description: str = "") -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = commands.add_parser(
            name,
            help=help,
            description=description or f"{help[0].upper()}{help[1:]}.",
            parents=[common],
            allow_abbrev=False,
        )
        return added

    demo = command("demo", "add a sample conversation to a memory and ask it questions", _DEMO)
    demo.add_argument(
        "--loop", action="store_true", help="play loops of retrieval with a scripted model"
    )
    for name, derived in DERIVED.items():
        help = _HELP.get(name) or derived.summary.partition(";")[0]
        derived.add_to(command(name, help, _TEXT.get(name, "")))
    _add_to_derived(commands.choices)
    add_import_commands(command)
    add_serving(command)
    _keeping(command)
    _evaluating(command)
    add_training(command)
    return parser


_HELP: Mapping[str, str] = {
    "add": "store one message and enrich it",
    "add-fact": "store a fact that you know, which no extractor reads",
    "enrich": "enrich the messages that are stored but not enriched yet",
    "export": "write a space to a file, which `import` reads",
}
"""Where a command does more or less than its operation, whose summary is else its help."""


def _add_to_derived(commands: Mapping[str, argparse.ArgumentParser]) -> None:
    """Add the options that are about the command line, not about the operation."""
    for name in ("add", "add-fact"):
        commands[name].add_argument(
            "--no-enrich", action="store_true", help="only store; `enrich` enriches later"
        )
    search = commands["search"]
    search.add_argument("--why", action="store_true", help="explain the rank of each hit")
    ask = commands["ask"]
    ask.add_argument("--model", metavar="NAME", help="default: COGNIGRAPH_MODEL")
    ask.add_argument("--trace", action="store_true", help="also print every prompt and its reply")
    cypher = commands["cypher"]
    cypher.add_argument(
        "--list", action="store_true", help="list the queries that come with cognigraph"
    )
    cypher.add_argument(
        "--param", action="append", default=[], metavar="K=V",
        help="a parameter of the query; may be repeated",
    )  # fmt: skip
    add_kinds(commands["messages"])
    commands["messages"].add_argument("--newest", action="store_true", help="the newest first")
    commands["forget"].add_argument(
        "--yes", action="store_true", help="delete; otherwise only show"
    )
    commands["history"].add_argument(
        "--limit", type=count, default=20, metavar="N", help="number of rows (default: 20)"
    )
    commands["stats"].add_argument("--all", action="store_true", help="count every space")
    enrich = commands["enrich"]
    enrich.add_argument(
        "--retry-failed", action="store_true", help="also try parked messages again"
    )
    enrich.add_argument("--redo", action="store_true", help="also extract enriched messages again")
    enrich.add_argument(
        "--older-than", metavar="VERSION",
        help="with --redo: only sessions processed by an older version, such as 2 or rules-2",
    )  # fmt: skip
    enrich.add_argument(
        "--dry-run", action="store_true", help="only estimate the work and its cost"
    )


_ENRICH = """\
Enrich the messages that are stored but not enriched yet. You may interrupt it at any time: finished
work is kept, and the next call continues from there. Several processes may do this at once."""

_ASK = """\
Answer a question: search, let a model notice what is missing, search again, and answer. Each round
is shown as it happens. The model is that of COGNIGRAPH_MODEL, with OPENAI_API_KEY or
OPENAI_BASE_URL; without one, the prompt block of `context` is printed."""

_FORGET = """\
Delete messages, and all that was made from them and from nothing else. Without --yes, or with
--dry-run, only list what would be deleted. Messages are deleted that match every criterion."""

_EXPORT = """\
Write the messages of a space with their earlier texts and the merges and splits made by users as
JSON lines. `cognigraph import` reads them into a space that holds no messages, of either store."""

_TEXT: Mapping[str, str] = {
    "enrich": _ENRICH,
    "ask": _ASK,
    "forget": _FORGET,
    "export": _EXPORT,
}

_COMPLETION = """\
Print a script that completes commands, options and their values. To use it in this shell:
eval "$(cognigraph completion bash)" (or zsh).
To use it in every shell, add that line to ~/.bashrc or ~/.zshrc."""

_DEMO = """\
Add a sample conversation to a memory, show the resulting graph and ask it questions.
This uses a temporary file; --db FILE keeps the memory."""


def _common() -> Parser:
    common = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("common options")
    group.add_argument(
        "--db", metavar="PATH_OR_URI", help="file, or neo4j://host:7687 (default: ./memory.db)"
    )
    group.add_argument(
        "--space", metavar="NAME", help="separate memory within the store (default: default)"
    )
    group.add_argument("--json", action="store_true", help="one JSON document on stdout")
    group.add_argument(
        "--embedder",
        metavar="NAME",
        help="wordllama (default), multilingual, fastembed:X, flag:X or "
        "sentence-transformers:X (X is a model or a folder), or openai:MODEL",
    )
    group.add_argument(
        "--extractor",
        metavar="NAME",
        help="what extracts facts: rules (default), openai[:MODEL], ama[:MODEL], "
        "hymem[:MODEL], membuilder[:MODEL] or openai+membuilder[:MODEL]",
    )
    group.add_argument(
        "--timezone",
        metavar="ZONE",
        help="timezone of times that are given without an offset, which need it, and of those "
        "that are printed (default: UTC)",
    )
    group.add_argument(
        "--auth",
        metavar="USER:PASSWORD",
        help="for Neo4j; visible in the process list, unlike COGNIGRAPH_AUTH",
    )
    group.add_argument("--database", metavar="NAME", help="Neo4j database")
    group.add_argument(
        "--accept-loss",
        action="store_true",
        help="open a file whose journal is missing or cut off, without what was lost",
    )
    return common


def _keeping(command: Any) -> None:
    reindex = command(
        "reindex",
        "change the embedder of the whole memory to the one given by --embedder",
        "Embed everything again with --embedder, in place. Searches use the old vectors until all "
        "are done. After an interruption, the same command continues.",
    )
    reindex.add_argument(
        "--vectors",
        choices=("float16", "float32"),
        help="number format of vectors in a file (default: unchanged)",
    )
    command("spaces", "list the names of all spaces that hold messages")
    backup = command("backup", "copy the SQLite file while it is in use")
    backup.add_argument("file", metavar="FILE", help="a new file")
    command("doctor", "check the store, its indexes, the embedder and the queue")
    shells = command("completion", "print a script that completes commands in a shell", _COMPLETION)
    shells.add_argument("shell", choices=SHELLS)


def _evaluating(command: Any) -> None:
    evaluate = command(
        "eval",
        "measure recall on a benchmark file, or compare settings on your own messages",
        "Insert a benchmark as it was downloaded (a file such as locomo10.json, or a folder), ask "
        "its questions and measure recall. `auto` finds out which benchmark it is. The folder "
        "FILE.cognigraph-eval/ receives the figures, a page with what was missed, and the state "
        "from which an interrupted run continues. Each combination of settings is a run of its "
        "own. `eval self` needs no file: it makes questions from messages of --db, without a "
        "model, and compares search settings on them. `eval paper licomemory|ama|hymem|membuilder "
        "--data FILE` builds a memory, answers and judges as the paper does, and writes the rows "
        "of its main table; without --yes or a budget it says what that would take, and stops.",
    )
    evaluate.add_argument("benchmark", choices=("auto", *FORMATS, "self", "paper"))
    evaluate.add_argument(
        "file", metavar="FILE", nargs="?", help="file or folder (not for self); name of a paper"
    )
    paper = evaluate.add_argument_group("eval paper")
    paper.add_argument(
        "--data", action="append", metavar="FILE", help="a benchmark of the paper; may be repeated"
    )
    paper.add_argument(
        "--build-model",
        metavar="NAME",
        help="builds the memory; default: COGNIGRAPH_BUILD_MODEL, else the model that answers; "
        "COGNIGRAPH_BUILD_BASE_URL, _API_KEY and _PRICES are for another endpoint",
    )
    paper.add_argument("--runs", type=count, metavar="N", help="default: as many as the paper")
    paper.add_argument(
        "--split",
        choices=("sft", "rl", "test"),
        help="questions of LongMemEval by MemBuilder's split (default there: test)",
    )
    paper.add_argument("--yes", action="store_true", help="begin without a budget")
    own = evaluate.add_argument_group("eval self")
    own.add_argument(
        "--questions", type=count, default=100, metavar="N", help="at most (default: 100)"
    )
    own.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="chooses the messages (default: 0)"
    )
    evaluate.add_argument("-k", default="5,10,15", metavar="N,N", help="default: 5,10,15")
    evaluate.add_argument(
        "--ranking", choices=("default", "licomemory"), help="ranking (default: default)"
    )
    evaluate.add_argument(
        "--max-tokens", type=count, metavar="N", help="largest size of the prompt block"
    )
    evaluate.add_argument("--limit", type=count, metavar="N", help="only the first conversations")
    evaluate.add_argument(
        "--out", metavar="FOLDER", help="folder for the results (default: FILE.cognigraph-eval)"
    )
    answers = evaluate.add_argument_group("question answering, with a model (extra openai)")
    answers.add_argument(
        "--qa", action="store_true", help="let a model answer the questions, and judge the answers"
    )
    answers.add_argument(
        "--strategy",
        action="append",
        choices=(*STRATEGIES, "block"),
        help="answer by this loop instead of from one block; may be repeated, to compare them "
        "(block is the answer from one block)",
    )
    answers.add_argument(
        "--model", "--answer-model", metavar="NAME", help="default: COGNIGRAPH_MODEL"
    )
    answers.add_argument(
        "--judge",
        "--judge-model",
        metavar="NAME",
        help="default: COGNIGRAPH_JUDGE, else the model; COGNIGRAPH_JUDGE_BASE_URL, _API_KEY and "
        "_PRICES are for a judge at another endpoint",
    )
    answers.add_argument(
        "--credit-adversarial",
        action="store_true",
        help="also ask LoCoMo's category 5, where the right answer is that it is not known",
    )
    answers.add_argument(
        "--workers",
        type=count,
        default=4,
        metavar="N",
        help="number of simultaneous calls (default: 4)",
    )
    answers.add_argument("--budget-calls", type=whole, metavar="N", help="largest number of calls")
    answers.add_argument(
        "--budget-tokens", type=whole, metavar="N", help="largest number of tokens"
    )
    answers.add_argument(
        "--budget-cost", type=amount, metavar="X", help="largest cost; needs prices"
    )
    answers.add_argument("--show-prompts", action="store_true", help="print the prompts and exit")


_IMPORT = """\
Store the messages of a file, of an exported archive (.zip), or of a folder.
Running it again continues where it was interrupted and skips what is stored already. The dump of a
memory with several users goes to a space for each of them, unless --space names one. A file that
`export` has written is read into a space that holds no messages."""

_WATCH = """\
Keep the memory in step with a folder of Markdown notes: read all of them, then look every few
seconds for notes that were added, changed or deleted. A section whose text changes gets a new
version; a section or note that is deleted is forgotten. With --format the folder has files of
another format, such as the transcripts of a coding agent: what is added to them is stored. Ctrl-C
ends it."""


def add_import_commands(command: Any) -> None:
    """Add the commands."""
    load = command("import", "store the messages of a file or folder", _IMPORT)
    load.formatter_class = argparse.RawDescriptionHelpFormatter
    load.epilog = "formats:\n" + "\n".join(
        f"  {reader.name:<12} {reader.what}" for reader in READERS.values()
    )
    load.add_argument("file", metavar="FILE", help='file, .zip or folder; "-" is standard input')
    load.add_argument(
        "--format",
        choices=(AUTO, *READERS),
        default=AUTO,
        metavar="NAME",
        help="one of the formats below (default: auto, by its content; a folder has notes, or is "
        "an export of Slack or Telegram)",
    )
    load.add_argument(
        "--dry-run", action="store_true", help="store nothing; say what would be stored"
    )
    load.add_argument(
        "--skip-invalid", action="store_true", help="leave out messages that cannot be stored"
    )
    load.add_argument(
        "--session",
        metavar="ID",
        help="the session of messages without one, or of all those of a chat export",
    )
    load.add_argument(
        "--speaker", metavar="NAME", help="who said what has neither a speaker nor a role"
    )
    load.add_argument(
        "--columns",
        metavar="FIELD=COLUMN,...",
        help="which column or field holds what: text=body,at=sent",
    )
    load.add_argument(
        "--prune", action="store_true", help="forget sections that are no longer in the notes"
    )
    load.add_argument(
        "--no-enrich", action="store_true", help="only store; `cognigraph enrich` enriches later"
    )
    _watch(command)


def _watch(command: Any) -> None:
    watch = command(
        "watch", "keep the memory in step with a folder of notes or transcripts", _WATCH
    )
    watch.add_argument("folder", metavar="FOLDER")
    watch.add_argument(
        "--format",
        choices=tuple(READERS),
        default="markdown",
        metavar="NAME",
        help="one of those of `cognigraph import` (default: markdown)",
    )
    watch.add_argument(
        "--every", type=amount, default=2.0, metavar="SECONDS", help="time between looks (2)"
    )
    watch.add_argument("--speaker", metavar="NAME", help="who wrote the notes")
    watch.add_argument(
        "--keep", action="store_true", help="keep sections and notes that were deleted"
    )
    watch.add_argument(
        "--no-enrich", action="store_true", help="only store; `cognigraph enrich` enriches later"
    )


_SERVE = """\
Serve the memory over HTTP, as REST with OpenAPI and as a page to look at, until interrupted. What
is added is enriched in the background. On loopback no key is needed until the first one is made
with `cognigraph keys create`; on any other address one is. It needs the extra `server`."""

_MCP = """\
Serve the space of --space to agents over the Model Context Protocol: on standard input and output
for a client that starts this command, or over HTTP at /mcp. What is added is enriched in the
background, except with --read-only. It needs the extra `mcp`."""


def add_serving(command: Any) -> None:
    """Add the commands."""
    add_setup(command)
    add_hooks(command)
    serve = command("serve", "serve the memory over HTTP (extra server)", _SERVE)
    _address(serve, 8700)
    serve.add_argument(
        "--rate",
        type=amount,
        default=100.0,
        metavar="N",
        help="requests per second of one key or address; 0 is no limit (default: 100)",
    )
    serve.add_argument(
        "--max-body",
        type=count,
        default=8,
        metavar="MB",
        help="largest size of a request other than an import (default: 8)",
    )
    serve.add_argument(
        "--max-requests",
        type=count,
        default=512,
        metavar="N",
        help="most requests at once, those that wait included (default: 512)",
    )
    serve.add_argument(
        "--calls",
        type=count,
        default=1,
        metavar="N",
        help="how many sessions are with a model at once, if one reads the messages (default: 1)",
    )
    serve.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL",
        help="let web pages of this origin use the API (CORS), such as https://app.example; may be "
        "repeated",
    )  # fmt: skip
    serve.add_argument(
        "--drain", type=amount, default=0.0, metavar="SECONDS",
        help="when it is told to stop, answer so long as before, but 503 to /ready, so that a load "
        "balancer sends its requests elsewhere (default: 0)",
    )  # fmt: skip
    serve.add_argument(
        "--grace", type=amount, default=10.0, metavar="SECONDS",
        help="then the time that requests in work have to end (default: 10)",
    )  # fmt: skip
    add_key_file(serve)
    mcp = command("mcp", "serve one space to agents over MCP (extra mcp)", _MCP)
    mcp.add_argument("--read-only", action="store_true", help="no tool that changes the memory")
    mcp.add_argument(
        "--transport",
        choices=("stdio", "streamable-http"),
        default="stdio",
        help="how clients connect (default: stdio)",
    )
    _address(mcp, 8701)
    mcp.add_argument(
        "--token",
        metavar="TOKEN",
        help="what HTTP clients must send; visible in the process list, unlike "
        "COGNIGRAPH_MCP_TOKEN",
    )
    add_keys(command)


def _address(parser: Any, default: int) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="address (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=port, default=default, metavar="N", help=f"port (default: {default})"
    )
