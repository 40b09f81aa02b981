"""Prompts: numbered files with a header, and the one function that renders them."""

from cognigraph.llm.prompts import PromptFile, prompt_file, render

__all__ = ["PromptFile", "prompt_file", "render"]
