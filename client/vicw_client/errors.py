"""What a call may raise, split by what the caller can do about it.

::

    VicwClientError
    ├── BadRequestError         change the request; ``problem.errors`` names the wrong fields
    │   ├── NotFoundError           404  names nothing
    │   ├── ConflictError           409  contradicts what is stored or under way
    │   └── TooLargeError           413  over a size limit of the server
    ├── RetryLaterError         send the same request again after ``retry_after`` seconds
    ├── ServerUnreachableError  no connection, or it broke; start the server, mend the address
    │   └── TimedOutError           connected, but no answer in time; the server may still be at it
    ├── ServerFaultError        a fault inside the server; ``problem.request_id`` finds it in the log
    ├── UnexpectedAnswerError   what answers is not VICW, or another version of it
    ├── AddressError            the server's address is none; nothing was sent
    ├── JobTimeoutError         the job still runs; nothing is lost, wait again
    ├── JobFailedError          the job ended, and some passages cannot be found; ``status.failures`` names them
    ├── SpoolError              a window's file cannot be used, or cannot be written
    └── NotStoredError          a window was closed with ``turns`` that nothing keeps; flush it again, or keep them
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
    """The thing asked for does not exist."""


class ConflictError(BadRequestError):
    """The request contradicts an earlier one."""


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
    """No answer in time. Never sent again by itself: the server may still be at work on it."""


class UnexpectedAnswerError(VicwClientError):
    """The answer is none that this client understands."""


class JobTimeoutError(VicwClientError):
    """A job was not done in time. It goes on."""


class AddressError(VicwClientError):
    """What was given as the server's address is none."""


class JobFailedError(VicwClientError):
    """The job ended with passages that could not be embedded. Its items are stored; the operator may replay them."""

    def __init__(self, status: JobStatus) -> None:
        first = next((f"; of {f.id or f.uid}: {f.error}" for f in status.failures if f.dead), "")
        super().__init__(f"job {status.job}: {status.passages_failed} passages were given up{first}")
        self.status = status


class SpoolError(VicwClientError):
    """The file that a window keeps its turns in is another's, in use, unreadable or cannot be written."""


class NotStoredError(VicwClientError):
    """What closing a window could not have remembered, and no spool keeps. The window is still open."""

    def __init__(self, turns: Sequence[Turn], reason: VicwClientError | None) -> None:
        super().__init__(f"{len(turns)} turns are not stored: {reason or 'they were refused'}")
        self.turns = tuple(turns)
