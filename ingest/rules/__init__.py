"""The rules extractor: facts, entities, session keys and summaries without a model."""
