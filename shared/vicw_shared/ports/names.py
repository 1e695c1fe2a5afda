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

    async def named(
        self,
        tenant: str,
        names: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        word: bool = False,
        limit: int = MOST_NAMESAKES,
    ) -> dict[str, list[Node]]:
        """Return what ``Lookups.named`` does, of these ``contexts`` or of all that the tenant has (None).

        With ``word``: the things of whose name it is one word, as "ana" is of "Ana Souza" (see ``model.names``).
        """
        ...

    async def begun(
        self, tenant: str, beginnings: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        """Return the live named things of which a name, an earlier one or a word of one goes on from each of these.

        ``beginnings`` are folded, and at most NAME_PREFIX characters of a name are looked at. A thing comes once, what
        is called by a beginning alone not for that; at most ``limit`` a beginning, which of more is the engine's
        choice. A beginning that nothing goes on from is left out.
        """
        ...

    async def called(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        """Answer several look-ups at once, in their order: each as ``named``, ``begun`` or ``ItemIndex.titled`` do."""
        ...

    async def list_named(
        self,
        tenant: str,
        context: str,
        *,
        prefix: str = "",
        subtype: str | None = None,
        after: tuple[str, str] | None = None,
        limit: int,
    ) -> list[Node]:
        """Return a page of a context's live named things, by folded name, then uid; without ``subtype`` no SLOTs.

        ``prefix`` is the folded beginning of the name, ``after`` the folded name and the uid that end the page before.
        Names are told apart, and put in order, by their first NAME_PREFIX characters at least.
        """
        ...

    async def degrees(self, tenant: str, uids: Sequence[str]) -> dict[str, int]:
        """Return how many edges each of these nodes has, either way, BELONGS_TO and MERGED_INTO aside."""
        ...
