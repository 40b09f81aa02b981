"""Which statements are still true: slots, the order of statements, and what supersedes what.

A *slot* is something of which a subject has one value at a time: a home, an employer, a deadline.
Every fact about a slot is a *claim*: the slot holds a value, or it no longer does. From all claims
about one slot :func:`~cognigraph.states.succession.decide` computes which of them are current. The
result depends on when things were said and when they are true, never on the order of arrival.
"""
