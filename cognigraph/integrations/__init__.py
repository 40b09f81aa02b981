"""A memory behind the interfaces of agent frameworks, one module for each; import it by its name.

Each module needs the framework, which an extra of the same name installs:
``pip install 'cognigraph-memory[langgraph]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cognigraph.errors import ConfigurationError


@contextmanager
def requirement(extra: str) -> Iterator[None]:
    """Imports inside the block come from the packages of an extra.

    Raises:
        ConfigurationError: one of them is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"this needs the package {error.name or extra!r}: "
            f"pip install 'cognigraph-memory[{extra}]'"
        ) from error
