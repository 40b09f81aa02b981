"""The commands of the command line and their options."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

from cognigraph._version import __version__
from cognigraph.cli.ask_options import EVALUATED, add_ask_command
from cognigraph.cli.completion import SHELLS
from cognigraph.cli.derived import add_derived_commands
from cognigraph.cli.filter_options import add_as_of, add_filters, add_spaces, add_valid_at
from cognigraph.cli.housekeeping_options import add_housekeeping
from cognigraph.cli.import_options import add_import_commands
from cognigraph.cli.layers import add_layer
from cognigraph.cli.numbers import amount, count, share, whole
from cognigraph.cli.serving_options import add_serving
from cognigraph.cli.state_parser import add_state_commands
from cognigraph.cli.training import add_training
from cognigraph.cli.usage_errors import Parser

_DESCRIPTION = """\
Graph memory for LLM agents: store conversations, inspect the resulting graph, ask questions.
Start with: cognigraph demo"""

_EPILOG = """\
environment:
  COGNIGRAPH_DB, COGNIGRAPH_AUTH,                       defaults of --db, --auth,
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
    _writing(command)
    _asking(command)
    add_ask_command(command)
    _looking(command)
    add_derived_commands(command)
    add_state_commands(command, count)
    add_housekeeping(command)
    add_serving(command)
    _keeping(command)
    _evaluating(command)
    add_training(command)
    return parser


_ENRICH = """\
Enrich the messages that are stored but not enriched yet. You may interrupt it at any time: finished
work is kept, and the next call continues from there. Several processes may do this at once."""

_COMPLETION = """\
Print a script that completes commands, options and their values. To use it in this shell:
eval "$(cognigraph completion bash)" (or zsh), or cognigraph completion fish | source.
To use it in every shell, add that line to ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish."""

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
        help="wordllama (default), fastembed:X, flag:X or "
        "sentence-transformers:X (X is a model or a folder), or openai:MODEL",
    )
    group.add_argument(
        "--extractor",
        metavar="NAME",
        help="what extracts facts: rules (default), openai[:MODEL], membuilder[:MODEL] or "
        "openai+membuilder[:MODEL]",
    )
    group.add_argument(
        "--timezone", metavar="ZONE", help="timezone of times, given and printed (default: UTC)"
    )
    group.add_argument(
        "--auth",
        metavar="USER:PASSWORD",
        help="for Neo4j; visible in the process list, unlike COGNIGRAPH_AUTH",
    )
    group.add_argument("--database", metavar="NAME", help="Neo4j database")
    return common


def _writing(command: Any) -> None:
    add = command("add", "store one message and enrich it")
    add.add_argument("text", metavar="TEXT", help='what was said; "-" reads standard input')
    add.add_argument("--session", default="default", help="the conversation it belongs to")
    add.add_argument("--speaker", help="who said it")
    add.add_argument("--at", metavar="TIME", help="when it was said, in ISO 8601 (default: now)")
    add.add_argument("--id", help="its id; adding the same id and text again changes nothing")
    add.add_argument(
        "--role",
        metavar="ROLE",
        help="user, assistant, system or tool (default: by the speaker's name, else a person)",
    )
    add.add_argument(
        "--tag", action="append", dest="tags", metavar="TAG", help="a tag; may be repeated"
    )
    add.add_argument("--metadata", metavar="JSON", help="a JSON object to keep with it")
    add.add_argument("--expires", metavar="TIME", help="when `expire` forgets it")
    add.add_argument("--facts", metavar="JSON", help="what it says: [{subject, relation, object}]")
    add.add_argument("--session-summary", metavar="TEXT", help="sums up its session so far")
    add.add_argument(
        "--no-enrich", action="store_true", help="only store; `cognigraph enrich` enriches later"
    )

    add_import_commands(command)
    enrich = command("enrich", "enrich the messages that are stored but not enriched yet", _ENRICH)
    enrich.add_argument(
        "--retry-failed", action="store_true", help="also try parked messages again"
    )
    enrich.add_argument("--redo", action="store_true", help="also extract enriched messages again")
    enrich.add_argument(
        "--older-than",
        metavar="VERSION",
        help="with --redo: only sessions processed by an older version, such as 2 or rules-2",
    )
    enrich.add_argument(
        "--dry-run",
        action="store_true",
        help="only estimate the work and its cost",
    )
    limits = enrich.add_argument_group("limits (the rest stays queued)")
    limits.add_argument("--max-calls", type=whole, metavar="N", help="number of model calls")
    limits.add_argument(
        "--max-tokens", type=whole, metavar="N", help="number of tokens, input and output"
    )
    limits.add_argument(
        "--max-cost",
        type=amount,
        metavar="X",
        help="cost, in the currency of COGNIGRAPH_MODEL_PRICES",
    )
    limits.add_argument("--deadline", type=amount, metavar="SECONDS", help="running time")


def _seen_from(parser: Any) -> None:
    parser.add_argument("--now", metavar="TIME", help="when the question is asked (default: now)")
    parser.add_argument("--as-of", metavar="TIME", help="ignore messages that were said later")


def _several_queries(parser: Any) -> None:
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="QUERY",
        help="search for this too, as another wording or a part of the question; may be repeated",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="ID",
        help="leave out this message, fact or session; may be repeated",
    )
    parser.add_argument(
        "--per-session", type=count, metavar="N", help="at most this many messages of one session"
    )
    parser.add_argument(
        "--min-confidence",
        type=share,
        help="leave out messages that answer with a lower probability, from 0 to 1",
    )


def _asking(command: Any) -> None:
    search = command("search", "find the messages most relevant to a question")
    search.add_argument("question", metavar="QUESTION")
    search.add_argument("-k", type=count, metavar="N", help="number of hits (default: 15)")
    _seen_from(search)
    _several_queries(search)
    add_valid_at(search)
    add_filters(search)
    add_spaces(search)
    add_layer(search)
    search.add_argument("--why", action="store_true", help="explain the rank of each hit")
    search.add_argument(
        "--profile", choices=("default", "licomemory"), help="ranking (default: default)"
    )

    why = command("why", "explain why a message is found for a question, or is not")
    why.add_argument("question", metavar="QUESTION")
    why.add_argument("--expect", metavar="ID", required=True, help="the message's id")
    why.add_argument(
        "--session", metavar="ID", help="its session, if several have a message with that id"
    )
    why.add_argument("-k", type=count, metavar="N", help="number of hits (default: 15)")
    _seen_from(why)

    context = command("context", "build the prompt block for a question")
    context.add_argument("question", metavar="QUESTION")
    context.add_argument(
        "--max-tokens", type=count, metavar="N", help="largest size of the block (default: 1300)"
    )
    _seen_from(context)
    _several_queries(context)
    add_valid_at(context)
    add_filters(context)

    cypher = command("cypher", "inspect the graph with a read-only Cypher query")
    cypher.add_argument("query", metavar="QUERY", nargs="?", help="MATCH ... RETURN ...")
    cypher.add_argument("--name", help="run a query that comes with cognigraph")
    cypher.add_argument(
        "--list", action="store_true", help="list the queries that come with cognigraph"
    )
    cypher.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="K=V",
        help="a parameter of the query; may be repeated",
    )
    cypher.add_argument(
        "--limit",
        type=count,
        default=1000,
        metavar="N",
        help="largest number of rows (default: 1000)",
    )


def _looking(command: Any) -> None:
    sessions = command("sessions", "list conversations with keys and summaries, newest first")
    sessions.add_argument(
        "--history", metavar="ID", help="list the revisions of one session's summary"
    )
    entities = command("entities", "list entities, those with the most triples first")
    entities.add_argument(
        "match", metavar="MATCH", nargs="?", help="a part of the name or of an alias"
    )
    duplicates = command("duplicates", "list entities that may be the same, most similar first")
    for listing in (sessions, entities, duplicates):
        listing.add_argument(
            "--limit", type=count, default=20, metavar="N", help="number of rows (default: 20)"
        )
    stats = command("stats", "count the contents of a space")
    stats.add_argument("--all", action="store_true", help="count every space")
    for listing in (sessions, entities, stats):
        add_as_of(listing)


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
    merge = command(
        "merge",
        "merge two entities",
        "Merge the entity NAME, with all its facts, into another one. `split` undoes it.",
    )
    merge.add_argument("name", metavar="NAME")
    merge.add_argument(
        "--into", metavar="NAME", required=True, help="the entity whose name is kept"
    )
    split = command(
        "split",
        "undo a merge",
        "Undo a merge: NAME becomes a separate entity again, and is no longer merged "
        "automatically.",
    )
    split.add_argument("name", metavar="NAME")
    split.add_argument(
        "--from", dest="apart_from", metavar="NAME", help="keep it apart from this entity only"
    )
    for change, option in ((merge, "--into-type"), (split, "--other-type")):
        change.add_argument("--type", help="type of NAME, if several entities have that name")
        change.add_argument(
            option,
            dest="other_type",
            metavar="TYPE",
            help="type of the other entity, if it differs",
        )
    command("doctor", "check the store, its indexes, the embedder and the queue")
    shells = command("completion", "print a script that completes commands in a shell", _COMPLETION)
    shells.add_argument("shell", choices=SHELLS)


def _evaluating(command: Any) -> None:
    evaluate = command(
        "eval",
        "measure recall on a benchmark file, or compare settings on your own messages",
        "Insert a benchmark file as it was downloaded (locomo10.json of LoCoMo, or a "
        "longmemeval_*.json of LongMemEval), ask its questions and measure recall. The folder "
        "FILE.cognigraph-eval/ receives the figures, an HTML page, and the state from which an "
        "interrupted run continues. Each combination of settings is a run of its own. "
        "`eval self` needs no file: it makes questions from messages of --db, without a model, and "
        "compares search settings on them.",
    )
    evaluate.add_argument("benchmark", choices=("locomo", "longmemeval", "self"))
    evaluate.add_argument("file", metavar="FILE", nargs="?", help="the JSON file (not for self)")
    own = evaluate.add_argument_group("eval self")
    own.add_argument(
        "--questions", type=count, default=100, metavar="N", help="at most (default: 100)"
    )
    own.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="chooses the messages (default: 0)"
    )
    evaluate.add_argument("-k", default="5,10,15", metavar="N,N", help="default: 5,10,15")
    evaluate.add_argument(
        "--profile", choices=("default", "licomemory"), help="ranking (default: default)"
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
        choices=EVALUATED,
        help="answer by this loop instead of from one block; may be repeated, to compare them "
        "(block is the answer from one block)",
    )
    answers.add_argument("--model", metavar="NAME", help="default: COGNIGRAPH_MODEL")
    answers.add_argument(
        "--judge",
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
