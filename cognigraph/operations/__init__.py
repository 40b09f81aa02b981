"""The operations of a space, by topic: each class here is a part of ``cognigraph.Space``."""
