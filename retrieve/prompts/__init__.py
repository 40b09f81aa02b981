"""Prompts of the read path; see :mod:`cognigraph.ingest.prompts` for their form."""
