"""What Qdrant says, in our words: every status, and whatever else its client raises."""

from __future__ import annotations

import asyncio

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata, UsageError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.models import UpdateResult, UpdateStatus

from vicw_shared.adapters.qdrant.errors import require_applied, translated
from vicw_shared.errors import (
    FatalError,
    ModelMismatchError,
    OverloadedError,
    SettingsError,
    StateConflictError,
    StorageFullError,
    UnavailableError,
    VicwError,
)

BY_STATUS: dict[StatusCode, type[VicwError]] = {
    StatusCode.OK: UnavailableError,
    StatusCode.CANCELLED: UnavailableError,
    StatusCode.UNKNOWN: UnavailableError,
    StatusCode.INVALID_ARGUMENT: VicwError,
    StatusCode.DEADLINE_EXCEEDED: UnavailableError,
    StatusCode.NOT_FOUND: UnavailableError,
    StatusCode.ALREADY_EXISTS: VicwError,
    StatusCode.PERMISSION_DENIED: SettingsError,
    StatusCode.UNAUTHENTICATED: SettingsError,
    StatusCode.RESOURCE_EXHAUSTED: OverloadedError,
    StatusCode.FAILED_PRECONDITION: UnavailableError,
    StatusCode.ABORTED: UnavailableError,
    StatusCode.UNIMPLEMENTED: FatalError,
    StatusCode.INTERNAL: UnavailableError,
    StatusCode.UNAVAILABLE: UnavailableError,
    StatusCode.DATA_LOSS: UnavailableError,
    StatusCode.OUT_OF_RANGE: VicwError,
}


def status(code: StatusCode, details: str = "as the server puts it") -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(), details)


def becomes(raised: BaseException) -> VicwError:
    with pytest.raises(VicwError) as caught, translated():
        raise raised
    assert caught.value.__cause__ is raised
    return caught.value


@pytest.mark.parametrize("code", list(StatusCode), ids=lambda code: code.name)
def test_every_status_becomes_an_error_that_says_what_can_be_done(code: StatusCode) -> None:
    error = becomes(status(code))
    assert type(error) is BY_STATUS[code]
    assert "as the server puts it" in error.detail
    if isinstance(error, UnavailableError):
        assert error.dependency == "vectors"


@pytest.mark.parametrize(
    ("code", "details", "kind"),
    [
        (
            StatusCode.INTERNAL,
            "Service internal error: No space left on device: WAL buffer size exceeds available disk space",
            StorageFullError,
        ),
        (
            StatusCode.INVALID_ARGUMENT,
            "Bad request: Disk usage is at 96% of total capacity, exceeding the configured limit of 95%",
            StorageFullError,
        ),
        (
            StatusCode.INVALID_ARGUMENT,
            "Wrong input: Vector dimension error: expected dim: 4, got 5",
            ModelMismatchError,
        ),
    ],
)
def test_what_has_no_status_of_its_own_is_known_by_its_words(
    code: StatusCode, details: str, kind: type[VicwError]
) -> None:
    assert type(becomes(status(code, details))) is kind


def test_a_rate_limit_tells_when_to_come_back() -> None:
    error = becomes(ResourceExhaustedResponse("Rate limiting exceeded", 7))
    assert isinstance(error, OverloadedError)
    assert error.retry_after_seconds == 7
    assert OverloadedError("another").retry_after_seconds == 1, "one error's hint is not the next one's"


@pytest.mark.parametrize("raised", [QdrantException("x"), UsageError("Channel is closed.")])
def test_whatever_else_the_client_raises_is_the_server_away(raised: Exception) -> None:
    assert type(becomes(raised)) is UnavailableError


@pytest.mark.parametrize(
    "ours", [StateConflictError("x"), ValueError("x"), TimeoutError("x"), asyncio.CancelledError("x")]
)
def test_our_own_errors_and_everybody_elses_pass(ours: BaseException) -> None:
    with pytest.raises(type(ours)) as caught, translated():
        raise ours
    assert caught.value is ours


@pytest.mark.parametrize("given", list(UpdateStatus))
def test_only_an_applied_write_is_acknowledged(given: UpdateStatus) -> None:
    result = UpdateResult(operation_id=1, status=given)
    if given is UpdateStatus.COMPLETED:
        require_applied(result)
    else:
        with pytest.raises(UnavailableError, match=given.value):
            require_applied(result)
