"""Errors of the Neo4j driver as errors of cognigraph, which say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from cognigraph.errors import ConfigurationError, StoreError, StoreUnavailableError
from cognigraph.text.redaction import redacted


@contextmanager
def mapped_errors(uri: str, database: str | None) -> Iterator[None]:
    """Convert errors of the driver into errors of cognigraph that say what to do."""
    try:
        yield
    except (AuthError, AuthConfigurationError) as error:
        raise StoreError(
            f"{uri} refused the login: user name or password is wrong; pass auth=('neo4j', '...')"
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreUnavailableError(
            f"no Neo4j answers at {uri} ({_first_line(error)}); {_advice(uri)}, then repeat the "
            "call"
        ) from error
    except DriverConfigurationError as error:
        raise ConfigurationError(f"cannot use {uri!r}: {_first_line(error)}") from error
    except Neo4jError as error:
        raise _mapped(error, uri, database) from error
    except DriverError as error:
        kind = StoreUnavailableError if error.is_retryable() else StoreError
        raise kind(f"{uri}: {_first_line(error)}") from error


def _advice(uri: str) -> str:
    if uri.partition("://")[0].startswith("neo4j"):
        return (
            "check that the server runs and that the addresses which it advertises "
            "(server.bolt.advertised_address) can be reached from here; bolt:// connects to a "
            "single server without asking it for addresses"
        )
    return "check that the server runs and that address and port are right"


def _mapped(error: Neo4jError, uri: str, database: str | None) -> StoreError:
    code, text = error.code or "", _first_line(error)
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return StoreError(
            f"{uri} has no database {database!r}; give the name of an existing database, "
            "or leave it out for the user's home database"
        )
    if "TransactionTimedOut" in code:
        return StoreUnavailableError(
            f"{uri} did not finish in time: {text}; repeat the call when the server is less busy, "
            "or raise the timeouts in StorageSettings"
        )
    if error.is_retryable() or code.startswith("Neo.TransientError"):
        return StoreUnavailableError(f"{uri} is busy: {text}; repeat the call")
    if isinstance(error, ClientError) and code.startswith("Neo.ClientError.Security"):
        return StoreError(f"{uri} does not permit this: {text}; grant the user the right to write")
    return StoreError(f"{uri}: {text}")


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return redacted(str(text).strip().splitlines()[0])[:300].rstrip(" :;")
