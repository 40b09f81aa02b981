"""The prompts of the model extractor, in the form of :mod:`cognigraph.llm.prompts`."""
