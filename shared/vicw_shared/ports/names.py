"""The port to what things are called: look-ups of named things outside a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.model.names import MOST_NAMESAKES


class By(StrEnum):
    """What of a node a text is looked up by."""

    NAME = "name"
    WORD = "word"
    BEGINNING = "beginning"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class NameQuery:
    """Folded texts that are looked up, at most ``limit`` nodes for each."""

    by: By
    texts: tuple[str, ...]
    limit: int = MOST_NAMESAKES


class NameIndex(Protocol):
    """Named things by their names (see ``model.names``), and how much is known of them."""

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        """Answer several look-ups in one read, in their order, inside ``contexts`` or the whole tenant (None).

        By NAME a look-up finds what ``Lookups.named`` does; by WORD the things of whose name it is one word, as "ana"
        is of "Ana Souza" (see ``model.names``). By TITLE it finds the live Entity items whose
        title is each of the texts (``names.title_terms``). By BEGINNING it finds the live named things of which a
        name, an earlier one or a word of one goes on from each of the texts: each thing once, and not for a name that
        equals the text; at most NAME_PREFIX characters of a name are compared.
        Which nodes over the limit are left out is the engine's choice. A text that finds nothing is left out.
        """
        ...

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        """Return how many edges each of these nodes has, either way, BELONGS_TO and MERGED_INTO aside."""
        ...


async def look_up(
    index: NameIndex,
    tenant: str,
    texts: Sequence[str],
    *,
    by: By = By.NAME,
    contexts: Sequence[str] | None = None,
    limit: int = MOST_NAMESAKES,
) -> dict[str, list[Node]]:
    """Return the answer to a single look-up of ``NameIndex.find_names``."""
    (found,) = await index.find_names(tenant, [NameQuery(by, tuple(texts), limit)], contexts=contexts)
    return found
