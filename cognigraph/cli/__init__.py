"""The command line: ``cognigraph``, or ``python -m cognigraph``."""

from cognigraph.cli.app import main

__all__ = ["main"]
