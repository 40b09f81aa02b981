"""The layers of the memory that a search can rank."""

from __future__ import annotations

from typing import Literal

Layer = Literal["messages", "facts", "episodes"]
"""What a search ranks: messages, facts (and the messages that state them), or episodes."""
