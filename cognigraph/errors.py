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
    ├── ModelError                a language model gave nothing usable; ``usage``, ``attempts``
    │   ├── ModelUnavailableError overloaded, down or too slow; ``is_retryable`` is True
    │   ├── ModelRefusedError     key, model name or request were refused
    │   ├── ModelAnswerError      what came back could not be read; ``is_retryable`` is True
    │   └── BudgetExceededError   calls, tokens, cost or time are used up; ``is_retryable`` is True
    └── FlushTimeout              enrichment did not finish in time (also a TimeoutError)

Each message says what to do about it; ``is_retryable`` says whether the same call may
succeed later without a change.
"""

from __future__ import annotations

from cognigraph.usage import Usage


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


class ModelError(CogniGraphError):
    """A language model gave no usable answer.

    ``usage`` is what the failed attempt cost, ``attempts`` how many requests were made for it,
    ``status`` the last HTTP status (``None`` if there was none).
    """

    def __init__(
        self,
        message: str,
        *,
        usage: Usage | None = None,
        attempts: int = 0,
        status: int | None = None,
    ) -> None:

        super().__init__(message)
        self.usage = usage if usage is not None else Usage()
        self.attempts = attempts
        self.status = status


class ModelUnavailableError(ModelError):
    """The endpoint was overloaded, down, unreachable or too slow in every attempt.

    ``retry_after`` is how many seconds it asked to be left alone, if it did.
    """

    is_retryable = True
    retry_after: float | None = None


class ModelRefusedError(ModelError):
    """The endpoint refused the request itself: key, address, model name, or size.

    ``too_long`` is True when the input was longer than the model reads.
    """

    too_long: bool = False


class ModelAnswerError(ModelError):
    """The model answered, but nothing usable came of it, even after one repair."""

    is_retryable = True


class BudgetExceededError(ModelError):
    """A budget is used up; raised before the call that would exceed it.

    ``limit`` is ``"calls"``, ``"tokens"``, ``"cost"`` or ``"time"`` (seconds); ``allowed`` and
    ``used`` are in its unit.
    """

    is_retryable = True

    def __init__(
        self, message: str, *, limit: str = "", allowed: float = 0.0, used: float = 0.0
    ) -> None:
        super().__init__(message)
        self.limit = limit
        self.allowed = allowed
        self.used = used


class FlushTimeout(CogniGraphError, TimeoutError):
    """``flush`` ran out of time.

    ``pending`` chunks, and summaries by themselves, are still waiting; nothing is lost.
    """

    is_retryable = True

    def __init__(self, message: str, *, pending: int) -> None:
        super().__init__(message)
        self.pending = pending
