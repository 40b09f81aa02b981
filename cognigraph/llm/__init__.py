"""Language models: a client for OpenAI-compatible endpoints, with budgets, cache and limits.

>>> from cognigraph.llm import ChatModel, Prompt
>>> model = ChatModel("qwen2.5:7b", base_url="http://localhost:11434/v1")
>>> answer = model.ask(Prompt("greet", "1", "You are polite.", "Greet Ann."), Greeting)
>>> answer.value, answer.usage
"""

from cognigraph.llm.answer_cache import AnswerCache, ResponseCache, cache_key
from cognigraph.llm.budget import Budget
from cognigraph.llm.client import ChatModel
from cognigraph.llm.ledger import Entry, Ledger
from cognigraph.llm.limiter import Limiter
from cognigraph.llm.protocols import Answer, Mode, Model, Prices, Prompt

__all__ = [
    "Answer",
    "AnswerCache",
    "Budget",
    "ChatModel",
    "Entry",
    "Ledger",
    "Limiter",
    "Mode",
    "Model",
    "Prices",
    "Prompt",
    "ResponseCache",
    "cache_key",
]
