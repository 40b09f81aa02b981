"""Insertion: turn messages into chunks that are searchable at once, without a model call."""
