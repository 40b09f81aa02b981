"""What was said in a conversation of the data folders that ``bench/recall.py`` describes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def category_of(item: dict[str, Any]) -> str:
    """Return the kind of a question where the data names it, else the name of its category."""
    return str(item.get("kind") or CATEGORIES[item["category"]])


def turns(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a conversation in order of time, with photo captions."""
    sessions = sorted(conversation["sessions"], key=lambda session: session["time"])
    for session in sessions:
        at = datetime.fromisoformat(session["time"] + "+00:00")
        for position, turn in enumerate(session["turns"]):
            photo = f" [photo: {turn['photo']}]" if turn.get("photo") else ""
            yield {
                "id": turn["id"],
                "session": str(session["session"]),
                "speaker": turn["speaker"],
                "text": turn["text"] + photo,
                "at": at + timedelta(seconds=position),
            }
