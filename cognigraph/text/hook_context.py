"""What an agent puts before or behind a prompt: the text that hooks have given it.

Hooks load this at each event, so it imports nothing of the package.
"""

from __future__ import annotations

import re

_CONTEXT = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)


def without_hook_context(text: str) -> str:
    """A prompt as the user wrote it, without what Gemini CLI adds to it."""
    return _CONTEXT.sub("", text) if "<hook_context>" in text else text
