"""Excerpts of long messages: units of a text, their scores for a question, and how they look."""
