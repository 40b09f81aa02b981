"""The prompts of the loop, in the form of :mod:`cognigraph.llm.prompts`."""
