"""Prompt files; see :mod:`cognigraph.llm.prompts`."""
