"""A worker that reads with a model, to start and kill: ``python -m tests.storage.readers``."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from cognigraph import EnrichSettings, Memory, Message, Settings
from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.llm import ChatModel
from cognigraph.testing import HashEmbedder
from tests.servers.scripted import section

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
THINGS = ["tea", "rain", "kayaks", "boats", "bread", "snow", "chess", "wool", "plums", "jazz"]
BATCH = 4
PER_SESSION = 6


def turn(number: int) -> Message:
    """Message ``number`` of a small conversation; a session takes two batches."""
    name, thing = ("Ann", "Ben")[number % 2], THINGS[number % 10]
    return Message(
        text=f"I like {thing} since {2000 + number}.",
        id=f"m{number}",
        session=f"s{number // PER_SESSION}",
        speaker=name,
        at=START + timedelta(minutes=number),
    )


def answer(messages: list[dict[str, str]]) -> dict[str, Any]:
    """What the model at the other end makes of a prompt: the same for the same prompt."""
    system, user = (message["content"] for message in messages[:2])
    said = re.findall(
        r"^\[(\d+)\] (?:\d\d:\d\d )?(\w+): I like (\w+)", section(user, "turns"), re.M
    )
    if "summary of a conversation" not in system:
        facts = [f"{number} | {who} | likes | {what}" for number, who, what in said]
        return {"entities": ["Ann | person"], "facts": facts}
    told = [f"{who} likes {what}." for _, who, what in said]
    if "<themes>" not in user:
        return {"keys": [], "themes": [{"title": "Likes", "summary": " ".join(told)}]}
    old = section(user, "themes").split(": ", 1)[1]
    return {"keys": [], "themes": [{"n": 1, "title": "Likes", "summary": " ".join([old, *told])}]}


def open_memory(location: str, auth: str, url: str, **model: Any) -> Memory:
    """A memory that asks the model at an address."""
    options = {"attempts": 1, "timeout": timedelta(seconds=0.5)} | model
    return Memory(
        location,
        auth=None if auth == "-" else tuple(auth.split(":", 1)),  # type: ignore[arg-type]
        embedder="wordllama" if "://" in location else HashEmbedder(64),  # one for all on a server
        extractor=ModelExtractor(ChatModel("fake", base_url=url, **options)),
        enrich="manual",
        settings=Settings(
            enrich=EnrichSettings(batch=BATCH, retry_after=timedelta(milliseconds=1))
        ),
    )


def main(location: str, auth: str, space: str, url: str) -> None:
    """Enrich a space until nothing is pending."""
    with open_memory(location, auth, url, timeout=timedelta(seconds=30)) as memory:
        tenant = memory.space(space)
        sys.stdout.write("open\n")
        sys.stdout.flush()
        while (left := tenant.stats()).pending + left.leased + left.summaries_pending:
            tenant.queue.enrich()


if __name__ == "__main__":
    main(*sys.argv[1:])
