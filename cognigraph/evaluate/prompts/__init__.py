"""The prompts of question answering, in the form of :mod:`cognigraph.ingest.model.prompts`."""
