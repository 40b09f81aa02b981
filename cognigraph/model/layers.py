"""The layers of the memory that a search can rank, and the shapes of a prompt block."""

from __future__ import annotations

from typing import Literal

Layer = Literal["messages", "facts", "episodes"]
"""What a search ranks: messages, facts (and the messages that state them), or episodes."""

Shape = Literal["answer", "overview"]
"""What a block is for: to answer a question, or to span a topic in time."""
