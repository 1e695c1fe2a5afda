"""Translation of errors of Neo4j and its driver into VICW's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    ConfigurationError,
    ConnectionPoolError,
    DatabaseUnavailable,
    DriverError,
    ForbiddenOnReadOnlyDatabase,
    Neo4jError,
    NotALeader,
    TransientError,
)

from vicw_shared.errors import OverloadedError, SettingsError, StorageFullError, UnavailableError, VicwError

_GRAPH = "graph"
_LOG_FAILED = "Neo.DatabaseError.Transaction.TransactionLogError"
"""Symptom of a full disk: the server cannot append to its log and gives no further reason.

It then refuses all requests until it is restarted.
"""
_FULL = ("no space left", "disk space", "disk is full", "disk quota")
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
_REFUSED = "Neo.ClientError.Security."
_FOR_NOW = {f"{_REFUSED}AuthenticationRateLimit", f"{_REFUSED}AuthorizationExpired"}
_AWAY = (DatabaseUnavailable, NotALeader, ForbiddenOnReadOnlyDatabase)
_TOO_LONG = {
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.ClientError.Transaction.Terminated",
}


@contextmanager
def translated() -> Iterator[None]:
    """Translate the driver's errors into the error tree; other exceptions pass."""
    try:
        yield
    except (Neo4jError, DriverError) as error:
        raise translate(error) from error
    except TimeoutError as error:
        raise UnavailableError(_GRAPH, f"Neo4j: {str(error) or 'no answer in time'}") from error
    except ValueError as error:
        # The driver raises this for an address that it cannot parse or resolve; VICW's own errors are all VicwErrors.
        if "address" not in str(error).lower():
            raise
        raise UnavailableError(_GRAPH, f"Neo4j: {error}") from error


def translate(error: Neo4jError | DriverError) -> VicwError:
    """Return VICW's error for a driver's error."""
    if isinstance(error, Neo4jError):
        return _of_server(error)
    if isinstance(error, ConfigurationError):
        return SettingsError(f"VICW_NEO4J_URL or another of its settings is wrong: {error}")
    if isinstance(error, ConnectionPoolError):
        return _overloaded("All connections to Neo4j are in use. Send less at once, or raise VICW_NEO4J_POOL")
    return UnavailableError(_GRAPH, f"Neo4j: {error}")


def _of_server(error: Neo4jError) -> VicwError:
    code, message = error.code or "", error.message or ""
    if code == _LOG_FAILED or any(words in message.lower() for words in _FULL):
        return StorageFullError(
            "Neo4j cannot write its log: its disk is full, or broken. Make room and restart Neo4j; nothing of this "
            f"request was stored ({message})"
        )
    if code == _NO_DATABASE:
        return SettingsError(f"VICW_NEO4J_DATABASE: {message}")
    if code.startswith(_REFUSED) and code not in _FOR_NOW:
        return SettingsError(f"Neo4j refuses VICW_NEO4J_USER with VICW_NEO4J_PASSWORD: {message}")
    if code in _TOO_LONG:
        return _overloaded(f"Neo4j took longer than VICW_NEO4J_QUERY_SECONDS and was stopped ({code})")
    if isinstance(error, TransientError) and code not in _FOR_NOW and not isinstance(error, _AWAY):
        return _overloaded(f"Neo4j could not take the work after several tries: {code}: {message}")
    return UnavailableError(_GRAPH, f"Neo4j: {code}: {message}")


def _overloaded(detail: str) -> OverloadedError:
    return OverloadedError(detail, dependency=_GRAPH)
