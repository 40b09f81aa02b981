"""Every error cognigraph raises on purpose.

::

    CogniGraphError
    ├── ConfigurationError        a setting, argument or missing extra
    ├── InvalidMessageError       a message that cannot be stored (also a ValueError)
    │   └── ConflictError         its id already belongs to another text
    ├── NotFoundError             a named thing that is not there (also a KeyError)
    ├── StoreError                the database refused or is not usable
    │   ├── StoreUnavailableError cannot be reached now; ``is_retryable`` is True
    │   ├── SchemaError           written by a newer version, or not ours
    │   └── EmbedderMismatchError the store was built with another embedder
    ├── QueryError                an inspection query that is not allowed or not understood
    ├── EmbeddingError            the embedder failed or returned the wrong shape
    ├── ExtractionError           an extractor failed on a chunk
    └── FlushTimeout              enrichment did not finish in time (also a TimeoutError)

Each message says what to do about it; ``is_retryable`` says whether the same call may
succeed later without a change.
"""

from __future__ import annotations


class CogniGraphError(Exception):
    """Base of all errors raised by cognigraph."""

    is_retryable: bool = False


class ConfigurationError(CogniGraphError, ValueError):
    """A setting or argument is wrong, or an optional dependency is missing."""


class InvalidMessageError(CogniGraphError, ValueError):
    """A message cannot be stored as it is.

    ``index`` is its place in the batch given to ``add_many`` (0 for ``add``).
    """

    def __init__(self, message: str, *, index: int = 0) -> None:
        super().__init__(message)
        self.index = index


class ConflictError(InvalidMessageError):
    """A message id is taken by a message with another text, speaker or part count.

    ``ids`` lists the ids in conflict. Everything else in the batch has been stored.
    """

    def __init__(self, message: str, *, ids: tuple[str, ...], index: int = 0) -> None:
        super().__init__(message, index=index)
        self.ids = ids


class NotFoundError(CogniGraphError, KeyError):
    """Something asked for by name does not exist."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class StoreError(CogniGraphError):
    """The database refused an operation or cannot be used."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached or is locked; trying again later may work."""

    is_retryable = True


class SchemaError(StoreError):
    """The database has a schema this version does not know."""


class EmbedderMismatchError(StoreError):
    """The store holds vectors of another embedder."""


class QueryError(CogniGraphError, ValueError):
    """An inspection query writes, is not allowed, or cannot be parsed."""


class EmbeddingError(CogniGraphError):
    """The embedder failed, or returned vectors of the wrong shape or not finite."""


class ExtractionError(CogniGraphError):
    """An extractor failed. ``chunks`` are the uids it was reading."""

    def __init__(
        self, message: str, *, chunks: tuple[str, ...] = (), retryable: bool = True
    ) -> None:
        super().__init__(message)
        self.chunks = chunks
        self.is_retryable = retryable


class FlushTimeout(CogniGraphError, TimeoutError):
    """``flush`` ran out of time. ``pending`` chunks are still waiting; nothing is lost."""

    is_retryable = True

    def __init__(self, message: str, *, pending: int) -> None:
        super().__init__(message)
        self.pending = pending
