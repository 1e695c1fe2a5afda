"""Name index port: look-ups of named nodes outside a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.model.names import MAX_NAMESAKES


class NameMatch(StrEnum):
    """Field and match mode of a name look-up."""

    NAME = "name"
    WORD = "word"
    BEGINNING = "beginning"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class NameQuery:
    """Case-folded ``texts`` to look up, with at most ``limit`` nodes for each."""

    by: NameMatch
    texts: tuple[str, ...]
    limit: int = MAX_NAMESAKES


class NameIndex(Protocol):
    """Index of named nodes by their names (see ``model.names``), with the number of their edges."""

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        """Return the matches of each query, by text, in one read: inside ``contexts`` or the whole tenant (None).

        NAME finds the same nodes as ``Lookups.named``. WORD finds nodes with a name that contains the text as one word,
        as "ana" in "Ana Souza" (see ``model.names``). TITLE finds the live Entity items with a title equal to the text
        (``names.title_terms``). BEGINNING finds the live named nodes with a name, an earlier name or a word of one that
        starts with the text and is longer: each node once, comparing at most NAME_PREFIX characters.

        The engine chooses which nodes over the limit are left out. Texts without a match are left out.
        """
        ...

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        """Return the number of edges of each of these nodes, in both directions, except the types in UNCOUNTED."""
        ...


async def look_up(
    index: NameIndex,
    tenant: str,
    texts: Sequence[str],
    *,
    by: NameMatch = NameMatch.NAME,
    contexts: Sequence[str] | None = None,
    limit: int = MAX_NAMESAKES,
) -> dict[str, list[Node]]:
    """Run a single look-up of ``NameIndex.find_names``."""
    (matches,) = await index.find_names(tenant, [NameQuery(by, tuple(texts), limit)], contexts=contexts)
    return matches
