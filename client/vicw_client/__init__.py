"""Typed client of VICW, sync and async. Requests and responses are those of `vicw_shared.wire`."""

from vicw_client._async import AsyncVicwClient
from vicw_client._exchange import Retry
from vicw_client._protocol import Readiness
from vicw_client._sync import VicwClient
from vicw_client.errors import (
    AddressError,
    BadRequestError,
    ConflictError,
    JobFailedError,
    JobTimeoutError,
    NotFoundError,
    NotStoredError,
    PreconditionFailedError,
    ProblemError,
    RetryLaterError,
    ServerFaultError,
    ServerUnreachableError,
    SpoolError,
    TimedOutError,
    TooLargeError,
    UnexpectedAnswerError,
    VicwClientError,
)
from vicw_client.window import AsyncWindow, FailedTurn, Turn, Window, WindowOptions, estimate_tokens
from vicw_shared.wire.filters import Filter

__all__ = [
    "AddressError",
    "AsyncVicwClient",
    "AsyncWindow",
    "BadRequestError",
    "ConflictError",
    "FailedTurn",
    "Filter",
    "JobFailedError",
    "JobTimeoutError",
    "NotFoundError",
    "NotStoredError",
    "PreconditionFailedError",
    "ProblemError",
    "Readiness",
    "Retry",
    "RetryLaterError",
    "ServerFaultError",
    "ServerUnreachableError",
    "SpoolError",
    "TimedOutError",
    "TooLargeError",
    "Turn",
    "UnexpectedAnswerError",
    "VicwClient",
    "VicwClientError",
    "Window",
    "WindowOptions",
    "estimate_tokens",
]
