"""The options of ``cognigraph ask``."""

from __future__ import annotations

from typing import Any

from cognigraph.cli.numbers import amount, count, whole
from cognigraph.loop.strategy import STRATEGIES

EVALUATED = (*STRATEGIES, "block")
"""What `cognigraph eval --qa --strategy` takes."""

_ASK = """\
Answer a question: search, let a model notice what is missing, search again, and answer. Each round
is shown as it happens. The model is that of COGNIGRAPH_MODEL, with OPENAI_API_KEY or
OPENAI_BASE_URL; without one, the prompt block of `context` is printed."""


def add_ask_command(command: Any) -> None:
    """Add the command."""
    ask = command("ask", "answer a question with a model, in rounds", _ASK)
    ask.add_argument("question", metavar="QUESTION")
    ask.add_argument(
        "--strategy",
        choices=tuple(STRATEGIES),
        default="licomemory",
        help="how to search (default: licomemory)",
    )
    ask.add_argument("--model", metavar="NAME", help="default: COGNIGRAPH_MODEL")
    ask.add_argument(
        "--turn",
        action="append",
        default=[],
        dest="history",
        metavar="TEXT",
        help="a turn of the conversation before the question; may be repeated, oldest first",
    )
    ask.add_argument(
        "--repair",
        choices=("propose", "apply"),
        default="propose",
        help="make the changes of facts in conflict that a strategy proposes (default: propose)",
    )
    ask.add_argument(
        "--max-block",
        type=count,
        dest="max_tokens",
        metavar="N",
        help="largest size of the prompt block (default: the strategy's)",
    )
    ask.add_argument("--trace", action="store_true", help="also print every prompt and its reply")
    ask.add_argument("--now", metavar="TIME", help="when the question is asked (default: now)")
    ask.add_argument("--as-of", metavar="TIME", help="ignore messages that were said later")
    limits = ask.add_argument_group("limits (the answer is then written from what was found)")
    limits.add_argument("--max-rounds", type=whole, metavar="N", help="number of rounds")
    limits.add_argument("--max-calls", type=whole, metavar="N", help="number of model calls")
    limits.add_argument(
        "--max-tokens", type=whole, dest="limit_tokens", metavar="N", help="input and output tokens"
    )
    limits.add_argument(
        "--max-cost",
        type=amount,
        metavar="X",
        help="cost, in the currency of COGNIGRAPH_MODEL_PRICES",
    )
    limits.add_argument("--deadline", type=amount, metavar="SECONDS", help="running time")
