"""Graphiti on Neo4j, with its client for OpenAI-compatible endpoints.

An episode for each message, named by the message's id. A fact leads to the messages of its
episodes, in the order in which Graphiti lists them. ``facts`` is the number of facts that a search
asks for (10 by default); with ``episodes`` the combined search returns episodes too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF
from line_protocol import serve


class NoReranker(CrossEncoderClient):
    """Never called: the searches that are measured rank by reciprocal rank fusion."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Refuse."""
        raise NotImplementedError


class Adapter:
    """One graph; a space is a ``group_id``."""

    def __init__(self, settings: dict[str, Any]) -> None:
        config = LLMConfig(
            api_key="none",
            model=settings["model"],
            small_model=settings["model"],
            base_url=settings["url"],
        )
        embedder = OpenAIEmbedderConfig(
            api_key="none",
            base_url=settings["url"],
            embedding_model=settings["embedder"],
            embedding_dim=settings["dimension"],
        )
        self._graph = Graphiti(
            settings["neo4j"],
            "neo4j",
            "neo4j",
            llm_client=OpenAIGenericClient(config),
            embedder=OpenAIEmbedder(embedder),
            cross_encoder=NoReranker(),
        )
        self._names: dict[str, str] = {}
        self.tune(settings)

    def tune(self, settings: dict[str, Any]) -> None:
        """Choose how many facts a search returns, and whether it returns episodes too."""
        self._facts, self._episodes = settings["facts"], settings.get("episodes", False)

    async def prepare(self) -> None:
        """Create the indexes, and wait until they are online."""
        await self._graph.build_indices_and_constraints()
        await self._graph.driver.execute_query("CALL db.awaitIndexes(60)")

    async def add(self, space: str, message: dict[str, Any]) -> None:
        """Add an episode and wait for it."""
        added = await self._graph.add_episode(
            name=message["id"],
            episode_body=f"{message['speaker']}: {message['text']}",
            source_description="conversation",
            reference_time=datetime.fromisoformat(message["at"]),
            source=EpisodeType.message,
            group_id=space,
        )
        self._names[added.episode.uuid] = message["id"]

    async def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the messages of each fact, and then of each episode, that is found."""
        if self._episodes:
            config = COMBINED_HYBRID_SEARCH_RRF.model_copy(deep=True)
            config.limit = self._facts
            found = await self._graph.search_(question, config=config, group_ids=[space])
            alone = [{"ids": [episode.name]} for episode in found.episodes]
            facts = [self._messages(edge.episodes) for edge in found.edges]
            # Facts and episodes are two lists without a common score: one of each in turn.
            return [hit for pair in _zipped(facts, alone) for hit in pair]
        edges = await self._graph.search(question, group_ids=[space], num_results=self._facts)
        return [self._messages(edge.episodes) for edge in edges]

    def _messages(self, episodes: list[str]) -> dict[str, Any]:
        return {"ids": [self._names[uuid] for uuid in episodes if uuid in self._names]}

    async def stored(self, space: str) -> dict[str, Any]:
        """Return the names of all episodes and entities."""
        rows, _, _ = await self._graph.driver.execute_query(
            "MATCH (n:Episodic {group_id: $space}) RETURN n.name AS name", space=space
        )
        names, _, _ = await self._graph.driver.execute_query(
            "MATCH (n:Entity {group_id: $space}) RETURN n.name AS name", space=space
        )
        return {"ids": [row["name"] for row in rows], "names": [row["name"] for row in names]}

    async def close(self) -> None:
        """Close the driver."""
        await self._graph.close()


def _zipped(first: list[Any], second: list[Any]) -> list[list[Any]]:
    longest = max(len(first), len(second))
    return [first[n : n + 1] + second[n : n + 1] for n in range(longest)]


serve(Adapter)
