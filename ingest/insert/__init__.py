"""Insertion: messages become chunks that can be searched at once, without a model call."""
