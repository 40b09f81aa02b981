"""Loops of retrieval: search, notice what is missing, search again; then answer.

A :class:`Strategy` is data: which slots a loop has, and their numbers. HyMem's and AMA's mechanisms
are slots, each usable alone with a :class:`LoopState`. :meth:`cognigraph.Space.ask` runs a loop.
"""

from cognigraph.loop.ama_slots import Intent, Judge, Retry, RewriteAndRoute, layer_of
from cognigraph.loop.asker import Asker
from cognigraph.loop.data import Answer, Assessment, Evidence, ModelCall, Plan, Repair, Round
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
