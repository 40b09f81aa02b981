"""What an agent puts before or behind a prompt: the text that hooks have given it.

Hooks load this at each event, so it imports nothing of the package.
"""

from __future__ import annotations


def without_hook_context(text: str) -> str:
    """A prompt as the user wrote it, without what Gemini CLI adds to it."""
    if "<hook_context>" not in text:
        return text
    import re

    return re.sub(r"<hook_context>.*?</hook_context>\s*", "", text, flags=re.DOTALL)
