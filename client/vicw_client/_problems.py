"""Convert failed replies, and requests that are invalid before they are sent, into this package's errors."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from vicw_client.errors import (
    BadRequestError,
    ConflictError,
    NotFoundError,
    PreconditionFailedError,
    RetryLaterError,
    ServerFaultError,
    ServerUnreachableError,
    TimedOutError,
    TooLargeError,
    UnexpectedAnswerError,
    VicwClientError,
)
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.wire.problem import Problem, problem_of
from vicw_shared.wire.validation_errors import describe

_LATER = {429, 503, 507}
_BY_STATUS = {404: NotFoundError, 409: ConflictError, 412: PreconditionFailedError, 413: TooLargeError}
_FIX_BY_PATH = {
    "ingest": "Items go to the ingest service: name it in VICW_URL, or by --url (base_url)",
    **dict.fromkeys(
        ("retrieve", "graph"),
        "Questions go to the retrieval service: name it in VICW_RETRIEVE_URL, or by --url (retrieve_url)",
    ),
}
"""Fix for a 404 on a path that another service of VICW serves, by one of the last two parts of the path."""
_EXCERPT_CHARS = 300


def failure_of(reply: httpx.Response | httpx.RequestError) -> VicwClientError | None:
    """Return the error that a reply means, or None for a success."""
    if isinstance(reply, httpx.RequestError):
        return _transport_failure(reply)
    status = reply.status_code
    if reply.is_success:
        return None
    if status in _LATER:
        return RetryLaterError(problem_in(reply), _retry_after(reply))
    if reply.is_client_error:
        return _BY_STATUS.get(status, BadRequestError)(_with_address(reply) if status == 404 else problem_in(reply))
    if reply.is_server_error:
        return ServerFaultError(problem_in(reply))
    return UnexpectedAnswerError(f"{reply.url} answered {status}; is this the address of VICW?")


def problem_in(reply: httpx.Response) -> Problem:
    """Return the problem document of a reply; a substitute if a proxy answered without one."""
    try:
        return Problem.model_validate_json(reply.content, extra="ignore")
    except ValidationError:
        return Problem(
            type="about:blank",
            title=reply.reason_phrase or "Error",
            status=reply.status_code,
            detail=reply.text[:_EXCERPT_CHARS].strip() or f"status {reply.status_code} without a body",
        )


def _with_address(reply: httpx.Response) -> Problem:
    """Return the problem document; if the wrong service answered, with its address and the right one."""
    problem, fix = problem_in(reply), _fix_of(reply.url.path)
    detail = f"{reply.url} answered 404: {problem.detail}. {fix}" if fix is not None else problem.detail
    return problem.model_copy(update={"detail": detail})


def _fix_of(path: str) -> str | None:
    *_, before, last = ("", *path.split("/"))
    return _FIX_BY_PATH.get(last) or _FIX_BY_PATH.get(before)


def failing_in(reply: httpx.Response) -> str:
    """Return what a server that is not ready reports as missing."""
    try:
        failing = reply.json()["failing"]
        return "; ".join(f"{name}: {reason}" for name, reason in failing.items())
    except (ValueError, KeyError, TypeError, AttributeError):
        return problem_in(reply).detail


def invalid_request(error: ValidationError) -> BadRequestError:
    """Return the error that the server would answer with, so that callers handle only one."""
    return refusal(*describe(error.errors(include_url=False, include_input=False)))


def refusal(*wrong: FieldProblem) -> BadRequestError:
    """Return the error that names these fields."""
    return BadRequestError(problem_of(InvalidInputError(*wrong), None))


def _transport_failure(error: httpx.RequestError) -> VicwClientError:
    where = _where(error)
    failure: VicwClientError
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        failure = TimedOutError(f"{where} did not answer in time")
    elif isinstance(error, httpx.TransportError):
        failure = ServerUnreachableError(f"{where} cannot be reached: {str(error) or type(error).__name__}")
    else:
        failure = UnexpectedAnswerError(f"{where} sent an unreadable answer: {error}")
    failure.__cause__ = error
    return failure


def _where(error: httpx.RequestError) -> str:
    try:
        url = error.request.url
    except RuntimeError:  # raised by httpx where no request is attached
        return "the server"
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _retry_after(reply: httpx.Response) -> float | None:
    """Seconds of the Retry-After header; its date form, which VICW never sends, counts as none."""
    value = reply.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None
