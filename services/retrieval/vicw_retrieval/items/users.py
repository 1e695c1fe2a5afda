"""Use case of listing users: who speaks in what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from vicw_core.page_cursor import fingerprint_of, read_cursor, write_cursor
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.ports import SpeakerPage, SpeakerPart
from vicw_shared.wire.people import UserPage, UsersQuery, UserSummary


async def list_users(query: UsersQuery, tenant: str, ports: RetrievalPorts) -> UserPage:
    """Return a page of the users with an item that the viewer may see.

    Raises InvalidInputError for an ``after`` of another request, UnavailableError while the graph is down.
    """
    fingerprint = fingerprint_of(tenant, "users", query.model_dump(mode="json"), {"after", "limit"})
    after = _place(query.after, fingerprint) if query.after is not None else None
    wanted = SpeakerPage(prefix=query.prefix or "", after=after, limit=query.limit + 1)
    parts = await ports.graph.speaker_parts(await viewer_scope(query, tenant, ports, query.context), wanted)
    found = [(key, list(group)) for key, group in groupby(sorted(parts, key=_key), key=_key)]
    page = found[: query.limit]
    following = write_cursor(page[-1][0], fingerprint) if len(found) > len(page) else None
    return UserPage(users=tuple(_summary(group) for _, group in page), next=following)


def _key(part: SpeakerPart) -> tuple[bool, str]:
    return part.key


def _place(cursor: str, fingerprint: str) -> tuple[bool, str]:
    nameless, name = read_cursor(cursor, fingerprint, 2, "after")
    return bool(nameless), str(name)


def _summary(parts: Sequence[SpeakerPart]) -> UserSummary:
    return UserSummary(
        user=parts[0].user,
        speakers=tuple(sorted({part.speaker for part in parts if part.speaker is not None})),
        items=sum(part.items for part in parts),
        contexts=len({part.context for part in parts}),
        first=min(part.first for part in parts),
        last=max(part.last for part in parts),
    )
