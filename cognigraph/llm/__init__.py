"""Language models: a client for OpenAI-compatible endpoints, with budgets, cache and limits.

>>> from cognigraph.llm import ChatModel, Prompt
>>> model = ChatModel("qwen2.5:7b", base_url="http://localhost:11434/v1")
>>> answer = model.ask(Prompt("greet", "1", "You are polite.", "Greet Ann."), Greeting)
>>> answer.value, answer.usage
"""

from typing import TYPE_CHECKING

from cognigraph.deferred import deferred
from cognigraph.llm.limits import Budget, Limiter
from cognigraph.llm.protocols import Answer, Mode, Model, Prices, Prompt

if TYPE_CHECKING:
    from cognigraph.llm.answer_cache import ResponseCache, cache_key
    from cognigraph.llm.client import ChatModel

__all__ = [
    "Answer",
    "Budget",
    "ChatModel",
    "Limiter",
    "Mode",
    "Model",
    "Prices",
    "Prompt",
    "ResponseCache",
    "cache_key",
]

__getattr__ = deferred(
    __name__,
    {
        "answer_cache": "ResponseCache cache_key",
        "client": "ChatModel",
    },
)
