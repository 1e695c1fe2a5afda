"""Cursor of a listing: the place of a page's last item, bound to the query and the tenant that it belongs to."""

from __future__ import annotations

import base64
import hashlib
import json

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.ports.item_list import ListingPlace
from vicw_shared.uids import is_uid

_FREE = {"cursor", "limit"}
"""Fields that may differ from page to page."""


def fingerprint_of(tenant: str, query: dict[str, object]) -> str:
    """Return a fingerprint of a listing: of its tenant and of all that chooses and orders its items."""
    bound = {name: value for name, value in query.items() if name not in _FREE}
    text = json.dumps([tenant, bound], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_cursor(place: ListingPlace, fingerprint: str) -> str:
    """Return the cursor of the page behind a place."""
    text = json.dumps([fingerprint, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, fingerprint: str) -> ListingPlace:
    """Return the place of a cursor.

    Raises InvalidInputError unless it was written for this listing: another query has other places.
    """
    try:
        text = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        bound, key, arrival, uid = json.loads(text)
        place = ListingPlace(key, arrival, uid)
    except (ValueError, TypeError, RecursionError):
        raise _refused("is no cursor", "Send the `next` of a page, unchanged") from None
    if not (_is_number(key) and _is_number(arrival) and isinstance(uid, str) and is_uid(uid)):
        raise _refused("is no cursor", "Send the `next` of a page, unchanged")
    if bound != fingerprint:
        problem = "belongs to another listing: its filter, order, viewer or tenant differs"
        raise _refused(problem, "Send it with the parameters of its page, or begin without a cursor")
    return place


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


def _refused(problem: str, fix: str) -> InvalidInputError:
    return InvalidInputError(FieldProblem("cursor", problem, fix))
