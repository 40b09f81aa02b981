"""The model extractor: facts, entities and session summaries read by a language model."""
