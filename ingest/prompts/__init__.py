"""Prompts: numbered files with a header, and the one function that renders them."""

from cognigraph.ingest.prompts.files import PromptFile, prompt_file, render

__all__ = ["PromptFile", "prompt_file", "render"]
