"""Every error that cognigraph raises on purpose.

::

    CogniGraphError
    ├── ConfigurationError        a setting or argument is wrong, or a package is missing
    ├── InvalidMessageError       a message cannot be stored (also a ValueError)
    │   ├── ConflictError         its id already belongs to another text
    │   └── BadRecordError        it stands in a file that is imported; ``position``, ``stored``
    ├── NotFoundError             nothing has the given name or id (also a KeyError)
    ├── StoreError                the database refused an operation or cannot be used
    │   ├── StoreUnavailableError it cannot be reached now; ``is_retryable`` is True
    │   ├── SchemaError           a newer version or another program wrote it
    │   └── EmbedderMismatchError it was built with another embedder
    ├── QueryError                a Cypher query is not allowed or not valid
    ├── EmbeddingError            the embedder failed or returned vectors of the wrong shape
    ├── ExtractionError           an extractor failed on a chunk
    ├── ModelError                a language model gave no usable answer; ``usage``, ``attempts``
    │   ├── ModelUnavailableError it is overloaded, down or too slow; ``is_retryable`` is True
    │   ├── ModelRefusedError     it refused the key, the model name or the request
    │   ├── ModelAnswerError      its answer could not be read; ``is_retryable`` is True
    │   └── BudgetExceededError   calls, tokens, cost or time are used up; ``is_retryable`` is True
    └── FlushTimeout              enrichment did not finish in time (also a TimeoutError)

Each message says what to do. If ``is_retryable`` is true, the same call may succeed later without
any change. ``ConfigurationError`` and ``QueryError`` are also ``ValueError``.
"""

from __future__ import annotations

from cognigraph.usage import Usage


class CogniGraphError(Exception):
    """The base class of all errors that cognigraph raises."""

    is_retryable: bool = False
    usage: Usage = Usage()
    """What models had been asked until then."""


class ConfigurationError(CogniGraphError, ValueError):
    """A setting or argument is wrong, or an optional package is not installed."""


class InvalidMessageError(CogniGraphError, ValueError):
    """A message cannot be stored as it is.

    ``index`` is its position in the messages given to ``add_many``, from 0; it is 0 for ``add``.
    """

    def __init__(self, message: str, *, index: int = 0) -> None:
        super().__init__(message)
        self.index = index


class ConflictError(InvalidMessageError):
    """A message has the id of a stored message with another text or speaker.

    ``ids`` lists all such ids of the batch. The other messages of the batch are stored.
    """

    def __init__(self, message: str, *, ids: tuple[str, ...], index: int = 0) -> None:
        super().__init__(message, index=index)
        self.ids = ids


class BadRecordError(InvalidMessageError):
    """A message in a file cannot be read or stored.

    ``position`` is where it is (``line 7``), ``reason`` what is wrong, and ``stored`` the number of
    messages that this import has stored, or found stored, before it.
    """

    def __init__(self, position: str, reason: str, *, stored: int, index: int = 0) -> None:
        super().__init__(f"{position} {reason}", index=index)
        self.position = position
        self.reason = reason
        self.stored = stored


class NotFoundError(CogniGraphError, KeyError):
    """Nothing has the given name or id."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class StoreError(CogniGraphError):
    """The database refused an operation or cannot be used."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached or is locked now; trying again later may work."""

    is_retryable = True


class SchemaError(StoreError):
    """This version does not know the schema of the database."""


class EmbedderMismatchError(StoreError):
    """The vectors in the store were made by another embedder."""


class QueryError(CogniGraphError, ValueError):
    """A Cypher query writes, is not allowed, is not valid, or exceeds a limit."""


class EmbeddingError(CogniGraphError):
    """The embedder failed, or its vectors have the wrong shape or are not finite."""


class ExtractionError(CogniGraphError):
    """An extractor failed. ``chunks`` are the uids of the chunks it was reading."""

    def __init__(
        self, message: str, *, chunks: tuple[str, ...] = (), retryable: bool = True
    ) -> None:
        super().__init__(message)
        self.chunks = chunks
        self.is_retryable = retryable


class ModelError(CogniGraphError):
    """A language model gave no usable answer.

    ``usage`` is what the failed call cost, ``attempts`` the number of requests that were made, and
    ``status`` the last HTTP status (``None`` if there was no response).
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
    """In every attempt the endpoint was overloaded, down, unreachable or too slow.

    ``retry_after`` is the number of seconds it asked to wait, if it did.
    """

    is_retryable = True
    retry_after: float | None = None


class ModelRefusedError(ModelError):
    """The endpoint refused the request: its key, address, model name or size.

    ``too_long`` is True if the input was longer than the model accepts.
    """

    too_long: bool = False


class ModelAnswerError(ModelError):
    """The model's answer could not be used, not even after it was asked to repair it."""

    is_retryable = True


class BudgetExceededError(ModelError):
    """A budget is used up. It is raised before the call that would exceed the budget.

    ``limit`` is ``"calls"``, ``"tokens"``, ``"cost"`` or ``"time"`` (in seconds); ``allowed`` and
    ``used`` are in the same unit.
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
    """``flush`` ran out of time. Nothing is lost.

    ``pending`` is the number of chunks and summaries that still wait to be enriched. ``halted``
    says that a budget is used up, so that waiting longer is of no use.
    """

    is_retryable = True

    def __init__(self, message: str, *, pending: int, halted: bool = False) -> None:
        super().__init__(message)
        self.pending = pending
        self.halted = halted
