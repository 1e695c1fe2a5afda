"""Translation of Qdrant's errors into VICW's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from grpc import StatusCode
from grpc.aio import AioRpcError, UsageError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.models import UpdateResult, UpdateStatus

from vicw_shared.errors import (
    FatalError,
    ModelMismatchError,
    OverloadedError,
    SettingsError,
    StorageFullError,
    UnavailableError,
    VicwError,
)

DEPENDENCY = "vectors"
# A full disk has no status code: the server's write-ahead log has no room, or strict mode's limit is reached.
_FULL = ("no space left on device", "disk usage is at")
_OTHER_SIZE = "vector dimension error"


def _settings(detail: str) -> VicwError:
    return SettingsError(f"VICW_QDRANT_API_KEY is not accepted. {detail}")


def _unavailable(detail: str) -> VicwError:
    return UnavailableError(DEPENDENCY, detail)


# Any other status counts as unavailable: down, starting, locked, too slow, or without the collection that another
# process is creating.
_BY_STATUS: Mapping[StatusCode, Callable[[str], VicwError]] = {
    StatusCode.RESOURCE_EXHAUSTED: OverloadedError,
    StatusCode.UNAUTHENTICATED: _settings,
    StatusCode.PERMISSION_DENIED: _settings,
    StatusCode.UNIMPLEMENTED: lambda detail: FatalError(f"The Qdrant server is too old. {detail}"),
    # The request itself is wrong, for example over a limit of strict mode: a retry does not help.
    StatusCode.INVALID_ARGUMENT: VicwError,
    StatusCode.OUT_OF_RANGE: VicwError,
    StatusCode.ALREADY_EXISTS: VicwError,
}


@contextmanager
def translated() -> Iterator[None]:
    """Translate the client's errors into the error tree; other exceptions pass."""
    try:
        yield
    except ResourceExhaustedResponse as error:
        overloaded = OverloadedError(f"Qdrant: {error}")
        overloaded.retry_after_seconds = max(1, error.retry_after_s)
        raise overloaded from error
    except AioRpcError as error:
        raise _translate(error.code(), error.details() or "") from error
    except (QdrantException, UsageError) as error:
        raise UnavailableError(DEPENDENCY, f"Qdrant: {error}") from error


def require_applied(result: UpdateResult) -> None:
    """Raise if the server has not applied a write yet: an acknowledged write has to be searchable."""
    if result.status is not UpdateStatus.COMPLETED:
        raise UnavailableError(DEPENDENCY, f"Qdrant has not applied a write yet ({result.status})")


def _translate(code: StatusCode, details: str) -> VicwError:
    detail = f"Qdrant: {details} ({code.name})"
    lowered = details.lower()
    if any(sign in lowered for sign in _FULL):
        return StorageFullError("Qdrant has no room left: nothing of this request was stored there")
    if _OTHER_SIZE in lowered:
        return ModelMismatchError(f"The collection was made for vectors of another model. {detail}")
    return _BY_STATUS.get(code, _unavailable)(detail)
