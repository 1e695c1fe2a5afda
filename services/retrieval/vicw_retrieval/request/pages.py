"""Pages of one question: each has the best results among those that no page before it has shown.

The cursor names what was shown, so that pages never overlap, whatever is written meanwhile; what comes later may be a
result of a later page. It also names the domain to which the first page was narrowed, or that it was not: all pages
answer out of the same domains.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched

from vicw_core.page_cursor import fingerprint_of, no_cursor, read_cursor, write_cursor
from vicw_retrieval.intent.domain import DomainDecision
from vicw_retrieval.ranking.fusion import Candidate
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retrieve import RetrieveRequest

_FREE = {"cursor", "limit", "budget", "template", "expand", "explain"}
"""Fields that may differ from page to page: they choose no results."""
_BYTES = 16
_ALL = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a question: behind the items ``shown`` (uids), of which so many are consolidated ``parts``."""

    fingerprint: str
    most: int
    """Results of all pages together."""
    shown: tuple[str, ...] = ()
    parts: int = 0
    domain: str | None = None
    """The only domain that is answered from; ``_ALL``: every one; None: decided by what is found."""

    @classmethod
    def of(cls, request: RetrieveRequest, tenant: str, limits: LimitSettings) -> Page:
        """Return the page that a request asks for. Raises InvalidInputError for a cursor that is not its."""
        fingerprint = fingerprint_of(tenant, "retrieve", request.model_dump(mode="json", exclude=_FREE))
        if request.cursor is None:
            return cls(fingerprint, limits.paged_results)
        domain, parts, packed = read_cursor(request.cursor, fingerprint, 3)
        shown = _unpacked(packed)
        if shown is None or not isinstance(parts, int) or not 0 <= parts <= len(shown):
            raise no_cursor()
        if domain is not None and (not isinstance(domain, str) or len(domain) > limits.name_chars):
            raise no_cursor()
        if len(shown) >= limits.paged_results:
            problem = f"is behind {len(shown)} results, and the limit is {limits.paged_results}"
            fix = "Narrow the question by a filter, or raise VICW_MAX_PAGED_RESULTS"
            raise InvalidInputError(FieldProblem("cursor", problem, fix))
        return cls(fingerprint, limits.paged_results, shown, parts, domain)

    @property
    def narrows(self) -> bool:
        """Whether the hits may narrow the search to domains."""
        return self.domain != _ALL

    def request(self, request: RetrieveRequest) -> RetrieveRequest:
        """Return the request as it is searched for: in the domain of the first page, and not beyond the limit."""
        limit = min(request.limit, self.most - len(self.shown))
        return request.model_copy(update={"domain": self.domain or request.domain, "limit": limit})

    def following(self, limit: int, top: Sequence[Candidate], decision: DomainDecision) -> str | None:
        """Return the cursor of the page after this one, whose results are ``top``; None if there is none."""
        new = [uid for one in top for uid in (one.key, *one.duplicates)]
        shown = tuple(dict.fromkeys((*self.shown, *new)))
        if len(top) < limit or len(shown) >= self.most:
            return None
        parts = self.parts + sum(one.item.part is not None for one in top)
        domain = _ALL if decision.domains is None else decision.domains[0] if len(decision.domains) == 1 else None
        packed = base64.b64encode(b"".join(uuid.UUID(uid).bytes for uid in shown)).decode()
        return write_cursor((domain, parts, packed), self.fingerprint)


def _unpacked(packed: object) -> tuple[str, ...] | None:
    """Return packed uids; None if they are none."""
    try:
        read = base64.b64decode(packed, validate=True) if isinstance(packed, str) else b"?"
    except ValueError:
        return None
    if len(read) % _BYTES:
        return None
    return tuple(str(uuid.UUID(bytes=bytes(one))) for one in batched(read, _BYTES))
