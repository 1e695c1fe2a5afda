"""Cursors of pages: where a page ends, bound to the tenant and the request that it belongs to.

A cursor is no secret and needs none: it only says where the caller's own request goes on.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from vicw_shared.errors import FieldProblem, InvalidInputError

type Place = Sequence[str | int | float | None]
"""Where the next page begins, as values of JSON; what they are is up to the request."""


def fingerprint_of(tenant: str, kind: str, request: Mapping[str, object], free: Collection[str] = ()) -> str:
    """Return the fingerprint of a request of a kind: of all its fields but those that are ``free`` to change."""
    bound = {name: value for name, value in request.items() if name not in free}
    text = json.dumps([tenant, kind, bound], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_cursor(place: Place, fingerprint: str) -> str:
    """Return the cursor of the page behind a place."""
    text = json.dumps([fingerprint, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, fingerprint: str, values: int, field: str = "cursor") -> Place:
    """Return the place of a cursor: so many ``values``, not checked any further.

    Raises InvalidInputError, on ``field``, unless it was written for this request: another one has other places.
    """
    try:
        text = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        bound, *place = cast("list[str | int | float | None]", json.loads(text))
        "".join(one for one in place if isinstance(one, str)).encode()  # JSON escapes halves of surrogate pairs
    except (ValueError, TypeError, RecursionError):
        raise no_cursor(field) from None
    if len(place) != values or not all(one is None or isinstance(one, str | int | float) for one in place):
        raise no_cursor(field)
    if bound != fingerprint:
        problem = "belongs to another request: its filter, order, viewer or tenant differs"
        raise InvalidInputError(
            FieldProblem(field, problem, "Send it with the other fields as they were, or begin without it")
        )
    return place


def no_cursor(field: str = "cursor") -> InvalidInputError:
    """Return the error for what is no cursor."""
    return InvalidInputError(FieldProblem(field, "is no cursor", "Send the `next` of a page, unchanged"))
