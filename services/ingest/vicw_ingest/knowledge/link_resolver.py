"""Resolve links to a page, section, folder, file, symbol or URL; unresolved links become problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vicw_ingest.knowledge.catalogue import Catalogue, PageEntry
from vicw_ingest.knowledge.links import LinkKind, PageLink
from vicw_shared.anchors import slug
from vicw_shared.model import Node
from vicw_shared.model.knowledge import FILE, folder_uid, section_uid
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid
from vicw_shared.wire.knowledge import LinkFault, LinkProblem

_MOST_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class ExternalTarget:
    """A target outside the folder: a URL or a third-party module."""

    name: str
    subtype: str


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The target of a link, the type of its edge, and its problem if it has one."""

    type: str
    uid: str | None = None
    problem: LinkProblem | None = None
    external: ExternalTarget | None = None


class LinkResolver:
    """Resolve the links of one folder."""

    types = ("LINKS_TO", "REFERENCES", "DEPENDS_ON")

    def __init__(self, catalogue: Catalogue, root: Node, symbols: Mapping[str, str]) -> None:
        """``symbols`` are the uids of symbols that code defines, by case-folded name."""
        self._catalogue = catalogue
        self._root = root
        self._symbols = symbols

    @staticmethod
    def names_of_code(entry: PageEntry) -> Iterator[str]:
        """Yield the names in a page that may be symbols of code."""
        return (link.target for link in entry.record.links if link.kind is LinkKind.CODE)

    def follow(self) -> list[list[LinkTarget]]:
        """Return the link targets of each page of the folder."""
        return [[self.step(link, entry) for link in entry.record.links] for entry in self._catalogue.entries]

    def step(self, link: PageLink, page: PageEntry) -> LinkTarget:
        """Return the target of a link of ``page``."""
        if link.kind is LinkKind.URL:
            return self._outside("REFERENCES", link.target, "url")
        found = self._catalogue.meant(link, page)
        if link.kind is LinkKind.CODE:
            uid = found[0].node.uid if len(found) == 1 else self._symbols.get(fold_case(link.target))
            return LinkTarget("REFERENCES", uid)
        if link.kind is LinkKind.IMPORT:
            return self._imported(link, found)
        if len(found) > 1:
            paths = tuple(sorted(entry.path for entry in found))[:_MOST_CANDIDATES]
            return LinkTarget("LINKS_TO", problem=_problem(LinkFault.AMBIGUOUS, link, paths))
        return self._into(found[0], link) if found else self._place(link, page)

    def _place(self, link: PageLink, page: PageEntry) -> LinkTarget:
        place = self._catalogue.place_meant(link, page) if link.kind is LinkKind.PATH else None
        if place is None:
            return LinkTarget("LINKS_TO", problem=_problem(LinkFault.MISSING, link))
        return LinkTarget("LINKS_TO", folder_uid(self._root.tenant, self._root.context, self._catalogue.folder, place))

    def _into(self, target: PageEntry, link: PageLink) -> LinkTarget:
        if target.node.subtype == FILE:
            return LinkTarget("REFERENCES", target.node.uid)
        if link.heading is None:
            return LinkTarget("LINKS_TO", target.node.uid)
        wanted, anchor = fold_case(link.heading), slug(link.heading)
        for place, (known, title) in enumerate(target.record.anchors):
            if wanted in {fold_case(title), known} or anchor == known:
                is_title = place == 0 and title == target.node.name
                return LinkTarget("LINKS_TO", target.node.uid if is_title else section_uid(target.node.uid, known))
        return LinkTarget("LINKS_TO", target.node.uid, problem=_problem(LinkFault.HEADING, link))

    def _imported(self, link: PageLink, found: list[PageEntry]) -> LinkTarget:
        if len(found) == 1:
            return LinkTarget("DEPENDS_ON", found[0].node.uid)
        if link.target.startswith("/"):
            return LinkTarget("DEPENDS_ON")
        return self._outside("DEPENDS_ON", link.target, "module")

    def _outside(self, edge_type: str, name: str, subtype: str) -> LinkTarget:
        uid = named_uid(self._root.tenant, self._root.context, subtype, name)
        return LinkTarget(edge_type, uid, external=ExternalTarget(name, subtype))


def _problem(fault: LinkFault, link: PageLink, candidates: tuple[str, ...] = ()) -> LinkProblem:
    return LinkProblem(fault=fault, target=link.said, line=link.line, candidates=candidates)
