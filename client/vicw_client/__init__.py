"""Typed client of VICW, sync and async. The messages are those of `vicw_shared.wire`."""

from vicw_client._async import AsyncVicwClient
from vicw_client._protocol import Readiness, Retry
from vicw_client._sync import VicwClient
from vicw_client.errors import (
    AddressError,
    BadRequestError,
    ConflictError,
    JobFailedError,
    JobTimeoutError,
    NotFoundError,
    ProblemError,
    RetryLaterError,
    ServerFaultError,
    ServerUnreachableError,
    TimedOutError,
    TooLargeError,
    UnexpectedAnswerError,
    VicwClientError,
)

__all__ = [
    "AddressError",
    "AsyncVicwClient",
    "BadRequestError",
    "ConflictError",
    "JobFailedError",
    "JobTimeoutError",
    "NotFoundError",
    "ProblemError",
    "Readiness",
    "Retry",
    "RetryLaterError",
    "ServerFaultError",
    "ServerUnreachableError",
    "TimedOutError",
    "TooLargeError",
    "UnexpectedAnswerError",
    "VicwClient",
    "VicwClientError",
]
