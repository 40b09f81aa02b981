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
  COGNIGRAPH_DB, COGNIGRAPH_AUTH,                       defaults of --db, --auth,
  COGNIGRAPH_EMBEDDER, COGNIGRAPH_EXTRACTOR             --embedder, --extractor
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
    _evaluating(command)
    return parser


_ENRICH = """\
Work off what is stored but not yet enriched. Interrupt it whenever you like: what is done stays,
the next call goes on from there. Several processes may do this at once."""

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
    group.add_argument(
        "--extractor", metavar="NAME", help="what reads facts: rules (default) or openai[:MODEL]"
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

    enrich = command("enrich", "work off what is stored but not yet enriched", _ENRICH)
    enrich.add_argument("--retry-failed", action="store_true", help="also what was given up")
    enrich.add_argument(
        "--redo", action="store_true", help="also read again what is enriched already"
    )
    enrich.add_argument(
        "--older-than",
        metavar="VERSION",
        help="with --redo: only what an older version read, such as 2 or rules-2",
    )
    enrich.add_argument(
        "--dry-run", action="store_true", help="say what there is to do and what it would cost"
    )
    limits = enrich.add_argument_group("limits; what is not done stays queued")
    limits.add_argument("--max-calls", type=_whole, metavar="N", help="model calls")
    limits.add_argument("--max-tokens", type=_whole, metavar="N", help="tokens, in and out")
    limits.add_argument(
        "--max-cost", type=_amount, metavar="X", help="in the currency of COGNIGRAPH_MODEL_PRICES"
    )
    limits.add_argument("--deadline", type=_amount, metavar="SECONDS", help="time")


def _seen_from(parser: Any) -> None:
    parser.add_argument("--now", metavar="TIME", help="when it is asked (default: now)")
    parser.add_argument("--as-of", metavar="TIME", help="show nothing that was said later")


def _asking(command: Any) -> None:
    search = command("search", "find the messages that matter for a question")
    search.add_argument("question", metavar="QUESTION")
    search.add_argument("-k", type=int, metavar="N", help="how many (default: 15)")
    _seen_from(search)
    search.add_argument("--why", action="store_true", help="say how each hit got its place")
    search.add_argument(
        "--profile", choices=("default", "licomemory"), help="how to rank (default: default)"
    )

    why = command("why", "say why a message is found for a question, or is not")
    why.add_argument("question", metavar="QUESTION")
    why.add_argument("--expect", metavar="ID", required=True, help="the message's id")
    why.add_argument("--session", metavar="ID", help="which, if several have a message of that id")
    why.add_argument("-k", type=int, metavar="N", help="how many hits there are (default: 15)")
    _seen_from(why)

    context = command("context", "make the prompt block for a question")
    context.add_argument("question", metavar="QUESTION")
    context.add_argument("--max-tokens", type=int, metavar="N", help="budget (default: 1300)")
    _seen_from(context)

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
    sessions.add_argument("--history", metavar="ID", help="revisions of one session's summary")
    entities = command("entities", "list entities, those with most triples first")
    entities.add_argument("match", metavar="MATCH", nargs="?", help="a part of the name")
    triples = command("triples", "list triples with their times and sources, newest first")
    triples.add_argument("entity", metavar="ENTITY", nargs="?", help="a whole name")
    triples.add_argument("--as-of", metavar="TIME", help="as it was known then")
    duplicates = command("duplicates", "list entities that may be one, most alike first")
    for listing in (sessions, entities, triples, duplicates):
        listing.add_argument(
            "--limit", type=_count, default=20, metavar="N", help="how many (default: 20)"
        )
    stats = command("stats", "count what is in a space")
    stats.add_argument("--all", action="store_true", help="every space")


def _keeping(command: Any) -> None:
    reindex = command(
        "reindex",
        "change the embedder of the whole memory to the one given by --embedder",
        "Embed everything anew with --embedder, in place. The old vectors serve until the last "
        "moment; when interrupted, the same command goes on.",
    )
    reindex.add_argument(
        "--vectors", choices=("float16", "float32"), help="format in a file (default: as it is)"
    )
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


def _evaluating(command: Any) -> None:
    evaluate = command(
        "eval",
        "measure recall on a benchmark file",
        "Insert a benchmark file as it is downloaded, ask its questions and measure what is found: "
        "locomo10.json of LoCoMo, or a longmemeval_*.json of LongMemEval. Figures, a page to open "
        "in a browser and what is needed to go on after an interruption go into "
        "FILE.cognigraph-eval/; other settings are another run.",
    )
    evaluate.add_argument("benchmark", choices=("locomo", "longmemeval"))
    evaluate.add_argument("file", metavar="FILE", nargs="?", help="the JSON file")
    evaluate.add_argument("-k", default="5,10,15", metavar="N,N", help="default: 5,10,15")
    evaluate.add_argument(
        "--profile", choices=("default", "licomemory"), help="how to rank (default: default)"
    )
    evaluate.add_argument("--max-tokens", type=_count, metavar="N", help="of the prompt block")
    evaluate.add_argument("--limit", type=_count, metavar="N", help="only the first conversations")
    evaluate.add_argument("--out", metavar="FOLDER", help="instead of FILE.cognigraph-eval")
    answers = evaluate.add_argument_group("question answering, with a model (extra openai)")
    answers.add_argument("--qa", action="store_true", help="let a model answer, and judge that")
    answers.add_argument("--model", metavar="NAME", help="default: COGNIGRAPH_MODEL")
    answers.add_argument(
        "--judge",
        metavar="NAME",
        help="default: COGNIGRAPH_JUDGE, else the model; COGNIGRAPH_JUDGE_BASE_URL, _API_KEY and "
        "_PRICES are for a judge elsewhere",
    )
    answers.add_argument(
        "--credit-adversarial",
        action="store_true",
        help="ask LoCoMo's category 5 too, and count it right to say that it is not known",
    )
    answers.add_argument("--workers", type=_count, default=4, metavar="N", help="calls at a time")
    answers.add_argument("--budget-calls", type=int, metavar="N", help="calls at most")
    answers.add_argument("--budget-tokens", type=int, metavar="N", help="tokens at most")
    answers.add_argument("--budget-cost", type=float, metavar="X", help="needs prices")
    answers.add_argument("--show-prompts", action="store_true", help="print the prompts and end")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


_count.__name__ = "count of at least 1"


def _whole(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


_whole.__name__ = "whole number"


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value


_amount.__name__ = "number of at least 0"
