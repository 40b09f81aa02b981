"""Loops of retrieval: search, notice what is missing, search again; then answer.

A :class:`Strategy` is data: which slots a loop has, and their numbers. HyMem's and AMA's mechanisms
are slots, each usable alone with a :class:`LoopState`. :meth:`cognigraph.Space.ask` runs a loop.
"""

from typing import TYPE_CHECKING

from cognigraph.deferred import deferred
from cognigraph.loop.data import Answer, Assessment, Evidence, ModelCall, Plan, Repair, Round

if TYPE_CHECKING:
    from cognigraph.loop.ama_slots import Intent, Judge, Retry, RewriteAndRoute, layer_of
    from cognigraph.loop.asker import Asker
    from cognigraph.loop.hymem_slots import DeepModule, LightModule, ReflectionModule, batches_of
    from cognigraph.loop.licomemory_slots import AskAsItIs, FollowUp, NoticeMissing
    from cognigraph.loop.pool import Recall
    from cognigraph.loop.refresher import Refresher, later_time_wins
    from cognigraph.loop.state import LoopState
    from cognigraph.loop.strategy import STRATEGIES, Strategy, ama, hymem, licomemory, membuilder

__all__ = [
    "STRATEGIES",
    "Answer",
    "AskAsItIs",
    "Asker",
    "Assessment",
    "DeepModule",
    "Evidence",
    "FollowUp",
    "Intent",
    "Judge",
    "LightModule",
    "LoopState",
    "ModelCall",
    "NoticeMissing",
    "Plan",
    "Recall",
    "ReflectionModule",
    "Refresher",
    "Repair",
    "Retry",
    "RewriteAndRoute",
    "Round",
    "Strategy",
    "ama",
    "batches_of",
    "hymem",
    "later_time_wins",
    "layer_of",
    "licomemory",
    "membuilder",
]

__getattr__ = deferred(
    __name__,
    {
        "ama_slots": "Intent Judge Retry RewriteAndRoute layer_of",
        "asker": "Asker",
        "hymem_slots": "DeepModule LightModule ReflectionModule batches_of",
        "licomemory_slots": "AskAsItIs FollowUp NoticeMissing",
        "pool": "Recall",
        "refresher": "Refresher later_time_wins",
        "state": "LoopState",
        "strategy": "STRATEGIES Strategy ama hymem licomemory membuilder",
    },
)
