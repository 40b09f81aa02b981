"""Ranking candidates: signals, weights, profiles and the optional reranker."""
