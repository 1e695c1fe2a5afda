"""The error tree, split by what the caller can do about it.

::

    VicwError
    ├── FixableError            change the request and send it again
    │   ├── InvalidInputError       422  a field is wrong; carries the field and the fix
    │   │   ├── UnknownTypeError        an edge type or collection that is not registered
    │   │   └── ForbiddenEdgeError      a label pair that the registry does not allow
    │   ├── LimitExceededError      413  over a size limit
    │   ├── StateConflictError      409  contradicts stored data or work in progress
    │   ├── VersionMismatchError 412     If-Match names another version than the stored one
    │   ├── MissingRecordError      404  there is no such record
    │   ├── UnauthorizedError       401  no valid key
    │   ├── ForbiddenError          403  the key lacks a right
    │   ├── ForeignHostError        421  called by a name that is not the server's
    │   └── ForeignOriginError      403  sent by a browser for another site's web page
    ├── RetryableError          send the same request again later
    │   ├── UnavailableError        503  a dependency is down; carries its name
    │   ├── OverloadedError         429  a queue is full
    │   └── StorageFullError        507  no room; nothing was stored
    └── FatalError              an operator has to act; the service does not start or stops
        ├── ModelMismatchError      the store was filled by another model
        ├── DataDirError            the data directory is foreign or unreadable
        │   └── DataDirInUseError       another process has it open
        ├── SchemaVersionError      the store's schema is newer than this program, or too old
        └── SettingsError           a setting is wrong or missing
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One wrong field: a dotted path into the request, the problem, and the fix."""

    field: str
    problem: str
    fix: str


NOTHING_HERE = "There is nothing at this address; /docs lists what there is"
"""The detail of a request to an address that no endpoint has."""


class VicwError(Exception):
    """Base of all expected errors. ``slug`` is the stable last part of the problem type."""

    slug = "internal-error"
    status = 500
    title = "Something went wrong inside VICW"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class FixableError(VicwError):
    """The caller can fix the request."""

    slug = "bad-request"
    status = 400
    title = "The request conflicts with the current state"


class InvalidInputError(FixableError):
    """One or more fields are wrong. Nothing was stored."""

    slug = "invalid-input"
    status = 422
    title = "The request has invalid fields"

    def __init__(self, *problems: FieldProblem) -> None:
        super().__init__("; ".join(f"{p.field}: {p.problem}. {p.fix}" for p in problems))
        self.problems = problems


class UnknownTypeError(InvalidInputError):
    """A type name that is in no registry."""

    slug = "unknown-type"
    title = "A type is not registered"


class ForbiddenEdgeError(InvalidInputError):
    """The registry does not allow this edge type between these labels."""

    slug = "forbidden-edge"
    title = "The registry does not allow this edge"


class LimitExceededError(FixableError):
    """Over a size limit; the detail names the limit's setting."""

    slug = "too-large"
    status = 413
    title = "The request is over a size limit"


class StateConflictError(FixableError):
    """Contradicts stored data or work in progress, for example an Idempotency-Key used for another body."""

    slug = "conflict"
    status = 409
    title = "The request contradicts an earlier one"


class VersionMismatchError(FixableError):
    """The stored version is another than the one that the request is for. Nothing was changed."""

    slug = "precondition-failed"
    status = 412
    title = "The item has another version"


class MissingRecordError(FixableError):
    """The requested record does not exist for this tenant."""

    slug = "not-found"
    status = 404
    title = "Not found"


class UnauthorizedError(FixableError):
    """No key was sent, or it is not valid."""

    slug = "unauthorized"
    status = 401
    title = "A key is needed"
    challenge = "Bearer"
    """The header ``WWW-Authenticate``."""


class ForbiddenError(FixableError):
    """The key lacks the right."""

    slug = "forbidden"
    status = 403
    title = "The key does not allow this"
    challenge: str | None = None
    """The header ``WWW-Authenticate``; None: there is none."""


class ForeignHostError(FixableError):
    """The request calls the server by a name that is not the server's; the detail names the setting."""

    slug = "foreign-host"
    status = 421
    title = "This server does not answer to this name"


class ForeignOriginError(FixableError):
    """A browser sent the request for a web page of another site; the detail names the setting."""

    slug = "foreign-origin"
    status = 403
    title = "Web pages of other sites may not call this server"


class RetryableError(VicwError):
    """The same request may succeed later. ``retry_after_seconds`` is a hint."""

    slug = "retry-later"
    status = 503
    title = "Not possible right now"
    retry_after_seconds = 1


class UnavailableError(RetryableError):
    """A dependency does not answer."""

    slug = "dependency-unavailable"
    title = "A dependency does not answer"

    def __init__(self, dependency: str, detail: str) -> None:
        super().__init__(f"{dependency}: {detail}")
        self.dependency = dependency


class BrokenError(UnavailableError):
    """A dependency accepted a request and answered with a failure."""


class TooSlowError(UnavailableError):
    """A dependency accepted a request and did not answer in time."""


class UnknownHostError(UnavailableError):
    """A dependency's host name does not resolve: it is down, or the name is wrong."""


class OverloadedError(RetryableError):
    """A bounded queue is full; ``dependency`` names its owner, if that is a dependency."""

    slug = "overloaded"
    status = 429
    title = "Too much work is waiting"

    def __init__(self, detail: str, *, dependency: str | None = None, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.dependency = dependency
        self.retry_after_seconds = retry_after_seconds


class StorageFullError(RetryableError):
    """The disk is full. Nothing of the request was stored."""

    slug = "storage-full"
    status = 507
    title = "The disk is full"
    retry_after_seconds = 30


class FatalError(VicwError):
    """An operator has to act."""

    slug = "fatal"


class ModelMismatchError(FatalError):
    """The store's vectors come from another model; the detail names the command that fixes it."""

    slug = "model-mismatch"


class DataDirError(FatalError):
    """The data directory cannot be used."""

    slug = "data-directory"


class DataDirInUseError(DataDirError):
    """Another process has the data directory open."""


class SchemaVersionError(FatalError):
    """The store's schema is newer than this program, or older than 0.1.0."""

    slug = "schema-version"


class SettingsError(FatalError):
    """A setting is wrong or missing."""

    slug = "settings"
