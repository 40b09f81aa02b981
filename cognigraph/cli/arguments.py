"""The commands and their options."""

from __future__ import annotations

import argparse
from typing import Any

from cognigraph._version import __version__

_DESCRIPTION = """\
Graph memory for LLM agents: put conversations in, see what became of them, ask.
Start with: cognigraph demo"""

_EPILOG = """\
environment:
  COGNIGRAPH_DB, COGNIGRAPH_AUTH, COGNIGRAPH_EMBEDDER   defaults of --db, --auth, --embedder
  COGNIGRAPH_DEBUG=1                                    show tracebacks and log messages
  NO_COLOR=1                                            no colours

exit codes:
  0 done   1 nothing found, or a check failed, or some messages were not taken
  2 wrong usage or input   3 the store cannot be used   130 interrupted"""


def build_parser() -> argparse.ArgumentParser:
    """The whole parser. Common options may stand before or after the command."""
    common = _common()
    parser = argparse.ArgumentParser(
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

    command("demo", "play a conversation into a memory and ask it questions", _DEMO)
    _writing(command)
    _asking(command)
    _looking(command)
    _keeping(command)
    return parser


_DEMO = """\
Play a conversation into a memory, show the graph it makes and ask it questions.
It happens in a temporary file; --db FILE keeps the memory."""


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("common options")
    group.add_argument(
        "--db", metavar="PATH_OR_URI", help="file, or neo4j://host:7687 (default: ./memory.db)"
    )
    group.add_argument("--space", metavar="NAME", help="tenant (default: default)")
    group.add_argument("--json", action="store_true", help="one JSON document on stdout")
    group.add_argument(
        "--embedder", metavar="NAME", help="wordllama (default) or fastembed:MODEL_OR_FOLDER"
    )
    group.add_argument("--timezone", metavar="ZONE", help="for times read and shown (default: UTC)")
    group.add_argument(
        "--auth",
        metavar="USER:PASSWORD",
        help="for Neo4j; others may see it in the process list, COGNIGRAPH_AUTH they may not",
    )
    group.add_argument("--database", metavar="NAME", help="Neo4j database")
    return common


def _writing(command: Any) -> None:
    add = command("add", "store one message and enrich it")
    add.add_argument("text", metavar="TEXT", help='what was said; "-" reads standard input')
    add.add_argument("--session", default="default", help="conversation it belongs to")
    add.add_argument("--speaker", help="who said it")
    add.add_argument("--at", metavar="TIME", help="when, in ISO 8601 (default: now)")
    add.add_argument("--id", help="its id: adding the same id again changes nothing")
    add.add_argument("--no-enrich", action="store_true", help="leave that to a later `enrich`")

    load = command(
        "import",
        "store many messages from JSON lines",
        "Store many messages: one JSON object a line, with text and optionally session, "
        "speaker, at, id. Running it again goes on where it ended and changes nothing else.",
    )
    load.add_argument("file", metavar="FILE", help='JSONL file; "-" reads standard input')
    load.add_argument("--skip-invalid", action="store_true", help="leave out lines that are wrong")
    load.add_argument("--no-enrich", action="store_true", help="leave that to a later `enrich`")

    enrich = command("enrich", "work off what is stored but not yet enriched")
    enrich.add_argument("--retry-failed", action="store_true", help="also what was given up")


def _asking(command: Any) -> None:
    search = command("search", "find the messages that matter for a question")
    search.add_argument("question", metavar="QUESTION")
    search.add_argument("-k", type=int, metavar="N", help="how many (default: 15)")
    search.add_argument("--now", metavar="TIME", help="when it is asked (default: now)")
    search.add_argument("--why", action="store_true", help="say how each hit got its place")
    search.add_argument(
        "--profile", choices=("default", "licomemory"), help="how to rank (default: default)"
    )

    context = command("context", "make the prompt block for a question")
    context.add_argument("question", metavar="QUESTION")
    context.add_argument("--max-tokens", type=int, metavar="N", help="budget (default: 1300)")
    context.add_argument("--now", metavar="TIME", help="when it is asked (default: now)")

    cypher = command("cypher", "look at the graph with a read-only query")
    cypher.add_argument("query", metavar="QUERY", nargs="?", help="MATCH ... RETURN ...")
    cypher.add_argument("--name", help="run a query that ships with cognigraph")
    cypher.add_argument("--list", action="store_true", help="list these queries")
    cypher.add_argument(
        "--param", action="append", default=[], metavar="K=V", help="a parameter; may be repeated"
    )
    cypher.add_argument("--limit", type=_count, default=1000, metavar="N", help="rows at most")


def _looking(command: Any) -> None:
    sessions = command("sessions", "list conversations with keys and summaries, newest first")
    entities = command("entities", "list entities, those with most triples first")
    entities.add_argument("match", metavar="MATCH", nargs="?", help="a part of the name")
    triples = command("triples", "list triples with their times and sources, newest first")
    triples.add_argument("entity", metavar="ENTITY", nargs="?", help="a whole name")
    duplicates = command("duplicates", "list entities that may be one, most alike first")
    for listing in (sessions, entities, triples, duplicates):
        listing.add_argument(
            "--limit", type=_count, default=20, metavar="N", help="how many (default: 20)"
        )
    stats = command("stats", "count what is in a space")
    stats.add_argument("--all", action="store_true", help="every space")


def _keeping(command: Any) -> None:
    merge = command(
        "merge",
        "say that two entities are one",
        "Say that two entities are one: NAME is shown as the other from now on, with all its "
        "facts. `split` takes it back.",
    )
    merge.add_argument("name", metavar="NAME")
    merge.add_argument("--into", metavar="NAME", required=True, help="the one that is shown")
    split = command(
        "split",
        "take a merge back",
        "Take a merge back: the entity that was read as NAME stands for itself again, and is not "
        "merged by itself any more.",
    )
    split.add_argument("name", metavar="NAME")
    split.add_argument("--from", dest="apart_from", metavar="NAME", help="only from this one")
    for change, option in ((merge, "--into-type"), (split, "--other-type")):
        change.add_argument("--type", help="where several entities have the name")
        change.add_argument(
            option, dest="other_type", metavar="TYPE", help="if the other is of another type"
        )
    command("doctor", "check the store, its indexes, the embedder and the work left over")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


_count.__name__ = "count of at least 1"
