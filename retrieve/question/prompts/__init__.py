"""Prompts of the read path; see :mod:`cognigraph.ingest.model.prompts` for their form."""
