"""``AsyncMemory`` and ``AsyncSpace``: the operations of a memory for asyncio."""

from cognigraph.aio.memory import AsyncMemory, AsyncSpace

__all__ = ["AsyncMemory", "AsyncSpace"]
