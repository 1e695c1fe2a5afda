"""The record of a page, stored as metadata of its node."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from vicw_core.markdown.links import PageLink
from vicw_shared.model import Node


class PageRecord(BaseModel):
    """A page as it was filed.

    ``slug`` is the address that it gives itself, in place of its path. ``id`` is its item's, ``item`` the uid of the
    item's live version. ``anchors`` are its headings' anchors and titles, ``blocks`` the ids of its blocks with the
    anchors that they are under, ``links`` its links, ``leads_to`` the uid that each of these leads to (None: nowhere).
    ``words``, ``keys`` and ``rules`` are its ``Subjects``.
    """

    model_config = ConfigDict(frozen=True)

    folder: str
    path: str
    item: str
    id: str
    sha256: str
    key: str | None = None
    slug: str | None = None
    aliases: tuple[str, ...] = ()
    anchors: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
    links: tuple[PageLink, ...] = ()
    leads_to: tuple[str | None, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    keys: tuple[str, ...] = ()
    rules: int = 0

    @classmethod
    def of(cls, page: Node) -> PageRecord:
        """Return the record stored in a page's node."""
        return cls.model_validate(page.metadata)

    def dump(self) -> dict[str, object]:
        """Return the record as node metadata."""
        return self.model_dump(mode="json")
