"""What Neo4j and its driver say, in our words."""

from __future__ import annotations

import inspect

import neo4j.exceptions
import pytest
from neo4j.exceptions import (
    AuthConfigurationError,
    BrokenRecordError,
    CertificateConfigurationError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    ConnectionPoolError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ReadServiceUnavailable,
    RoutingServiceUnavailable,
    ServiceUnavailable,
    SessionError,
    SessionExpired,
    UnsupportedServerProduct,
    WriteServiceUnavailable,
)

from vicw_shared.errors import (
    MissingRecordError,
    OverloadedError,
    SettingsError,
    StateConflictError,
    StorageFullError,
    UnavailableError,
    VicwError,
)
from vicw_stores.neo4j.errors import translate, translated

_DRIVER: dict[type[DriverError], type[VicwError]] = {
    ServiceUnavailable: UnavailableError,
    SessionExpired: UnavailableError,
    IncompleteCommit: UnavailableError,
    RoutingServiceUnavailable: UnavailableError,
    ReadServiceUnavailable: UnavailableError,
    WriteServiceUnavailable: UnavailableError,
    BrokenRecordError: UnavailableError,
    SessionError: UnavailableError,
    ConnectionPoolError: OverloadedError,
    ConnectionAcquisitionTimeoutError: OverloadedError,
    ConfigurationError: SettingsError,
    AuthConfigurationError: SettingsError,
    CertificateConfigurationError: SettingsError,
    UnsupportedServerProduct: SettingsError,
}
_SERVER: dict[str, type[VicwError]] = {
    "Neo.TransientError.Transaction.DeadlockDetected": OverloadedError,
    "Neo.TransientError.Transaction.LockAcquisitionTimeout": OverloadedError,
    "Neo.TransientError.Transaction.MaximumTransactionLimitReached": OverloadedError,
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": OverloadedError,
    "Neo.TransientError.General.OutOfMemoryError": OverloadedError,
    "Neo.TransientError.General.DatabaseUnavailable": UnavailableError,
    "Neo.ClientError.Transaction.TransactionTimedOut": OverloadedError,
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": OverloadedError,
    "Neo.ClientError.Transaction.Terminated": OverloadedError,
    "Neo.TransientError.Transaction.Terminated": OverloadedError,
    "Neo.TransientError.Transaction.LockClientStopped": OverloadedError,
    "Neo.ClientError.Security.Unauthorized": SettingsError,
    "Neo.ClientError.Security.CredentialsExpired": SettingsError,
    "Neo.ClientError.Security.Forbidden": SettingsError,
    "Neo.ClientError.Security.AuthenticationRateLimit": UnavailableError,
    "Neo.ClientError.Security.AuthorizationExpired": UnavailableError,
    "Neo.ClientError.Database.DatabaseNotFound": SettingsError,
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": UnavailableError,
    "Neo.ClientError.Schema.ConstraintValidationFailed": UnavailableError,
    "Neo.ClientError.Statement.SyntaxError": UnavailableError,
    "Neo.DatabaseError.General.UnknownError": UnavailableError,
    "Neo.DatabaseError.Transaction.TransactionCommitFailed": UnavailableError,
    "Neo.DatabaseError.Transaction.TransactionStartFailed": UnavailableError,
    "Neo.DatabaseError.Transaction.TransactionLogError": StorageFullError,
}


def server_error(code: str, message: str = "as the engine puts it") -> Neo4jError:
    error = Neo4jError._hydrate_neo4j(code=code, message=message)
    assert isinstance(error, Neo4jError)
    return error


@pytest.mark.parametrize(("code", "becomes"), _SERVER.items())
def test_server_error_codes_map_to_vicw_errors(code: str, becomes: type[VicwError]) -> None:
    raised = server_error(code)
    with pytest.raises(VicwError) as caught, translated():
        raise raised
    assert type(caught.value) is becomes
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize(("kind", "becomes"), _DRIVER.items())
def test_driver_exceptions_map_to_vicw_errors(kind: type[DriverError], becomes: type[VicwError]) -> None:
    raised = kind.__new__(kind)
    Exception.__init__(raised, "as the driver puts it")
    with pytest.raises(VicwError) as caught, translated():
        raise raised
    assert type(caught.value) is becomes


def test_every_driver_exception_is_translated() -> None:
    for _, kind in inspect.getmembers(neo4j.exceptions, inspect.isclass):
        if issubclass(kind, DriverError):
            raised = kind.__new__(kind)
            Exception.__init__(raised, "any")
            assert isinstance(translate(raised), VicwError), kind
        elif issubclass(kind, Neo4jError):
            assert isinstance(translate(kind("not from a server")), VicwError), kind


@pytest.mark.parametrize("words", ["No space left on device", "Disk quota exceeded"])
def test_a_full_disk_is_recognised_by_its_words(words: str) -> None:
    error = server_error("Neo.DatabaseError.Transaction.TransactionCommitFailed", f"Could not append: {words}")
    assert type(translate(error)) is StorageFullError


@pytest.mark.parametrize(
    "ours", [StateConflictError("x"), MissingRecordError("x"), StorageFullError("x"), ValueError("x")]
)
def test_vicw_and_unrelated_errors_pass_untranslated(ours: Exception) -> None:
    with pytest.raises(type(ours)) as caught, translated():
        raise ours
    assert caught.value is ours
