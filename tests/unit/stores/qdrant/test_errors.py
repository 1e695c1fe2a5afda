"""What Qdrant says, in our words: every status, and whatever else its client raises."""

from __future__ import annotations

import asyncio

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata, UsageError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.models import UpdateResult, UpdateStatus

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
from vicw_stores.qdrant.errors import require_applied, translated

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


def translate_error(raised: BaseException) -> VicwError:
    with pytest.raises(VicwError) as caught, translated():
        raise raised
    assert caught.value.__cause__ is raised
    return caught.value


@pytest.mark.parametrize("code", list(StatusCode), ids=lambda code: code.name)
def test_every_grpc_status_maps_to_a_vicw_error(code: StatusCode) -> None:
    error = translate_error(status(code))
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
def test_errors_without_their_own_status_are_recognised_by_message(
    code: StatusCode, details: str, kind: type[VicwError]
) -> None:
    assert type(translate_error(status(code, details))) is kind


def test_a_rate_limit_error_carries_its_retry_after_seconds() -> None:
    error = translate_error(ResourceExhaustedResponse("Rate limiting exceeded", 7))
    assert isinstance(error, OverloadedError)
    assert error.retry_after_seconds == 7
    assert OverloadedError("another").retry_after_seconds == 1, "one error's hint is not the next one's"


@pytest.mark.parametrize("raised", [QdrantException("x"), UsageError("Channel is closed.")])
def test_other_client_exceptions_map_to_unavailable(raised: Exception) -> None:
    assert type(translate_error(raised)) is UnavailableError


@pytest.mark.parametrize(
    "ours", [StateConflictError("x"), ValueError("x"), TimeoutError("x"), asyncio.CancelledError("x")]
)
def test_vicw_and_unrelated_errors_pass_untranslated(ours: BaseException) -> None:
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
