"""What a call may raise, split by what the caller can do about it.

::

    VicwClientError
    ├── BadRequestError         change the request; ``problem.errors`` names the wrong fields
    │   ├── NotFoundError           404  what the request names does not exist
    │   ├── ConflictError           409  contradicts what is stored or under way
    │   ├── PreconditionFailedError 412 the item has another version than ``if_match``
    │   └── TooLargeError           413  over a size limit of the server
    ├── RetryLaterError         send the same request again after ``retry_after`` seconds
    ├── ServerUnreachableError  no connection, or it broke; start the server, correct the address
    │   └── TimedOutError           connected, but no answer in time; the server may still work on it
    ├── ServerFaultError        a fault inside the server; ``problem.request_id`` finds it in the log
    ├── UnexpectedAnswerError   the answer is not VICW's, or of another version
    ├── AddressError            the server's address is invalid; nothing was sent
    ├── JobTimeoutError         the job still runs; nothing is lost, wait again
    ├── JobFailedError          the job ended with failed passages, which ``status.failures`` names
    ├── SpoolError              a window's file cannot be used, or cannot be written
    └── NotStoredError          closing a window would have lost ``turns``; flush it again, or keep them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicw_shared.wire.ingest import JobStatus
from vicw_shared.wire.problem import Problem

if TYPE_CHECKING:
    from vicw_client.window.turns import Turn


class VicwClientError(Exception):
    """Base of everything that a client raises on purpose."""


class ProblemError(VicwClientError):
    """The server answered with a problem document."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem


class BadRequestError(ProblemError):
    """The request is wrong as it is; nothing was stored."""


class NotFoundError(BadRequestError):
    """What the request names does not exist."""


class ConflictError(BadRequestError):
    """The request contradicts an earlier one."""


class PreconditionFailedError(BadRequestError):
    """The item has another version than the one that the request is for: read it again."""


class TooLargeError(BadRequestError):
    """The request is over a size limit."""


class RetryLaterError(ProblemError):
    """Not possible right now. ``retry_after`` is the server's hint in seconds, or None."""

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after


class ServerFaultError(ProblemError):
    """Something went wrong inside the server."""


class ServerUnreachableError(VicwClientError):
    """No connection to the server, or it broke."""


class TimedOutError(ServerUnreachableError):
    """No answer in time. Not retried automatically: the server may still work on it."""


class UnexpectedAnswerError(VicwClientError):
    """The answer is not one that this client understands."""


class JobTimeoutError(VicwClientError):
    """A job was not done in time. It continues."""


class AddressError(VicwClientError):
    """The server's address is invalid."""


class JobFailedError(VicwClientError):
    """The job ended with passages that could not be embedded. Its items are stored; the operator may replay them."""

    def __init__(self, status: JobStatus) -> None:
        first = next((f"; of {f.id or f.uid}: {f.error}" for f in status.failures if f.dead), "")
        super().__init__(f"job {status.job}: {status.passages_failed} passages were given up{first}")
        self.status = status


class SpoolError(VicwClientError):
    """A window's spool file belongs to another conversation, is in use, unreadable or not writable."""


class NotStoredError(VicwClientError):
    """Turns that closing a window could not store, and that no spool keeps. The window is still open."""

    def __init__(self, turns: Sequence[Turn], reason: VicwClientError | None) -> None:
        super().__init__(f"{len(turns)} turns are not stored: {reason or 'they were refused'}")
        self.turns = tuple(turns)
