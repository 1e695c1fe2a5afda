"""Resolve links to a page, section, folder, file, symbol or URL; unresolved links become problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vicw_core.markdown.links import LinkKind, PageLink
from vicw_core.text.heading_anchors import slug
from vicw_ingest.knowledge.catalogue import Catalogue, PageEntry
from vicw_shared.model import Node
from vicw_shared.model.knowledge import FILE, folder_uid, section_uid
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid
from vicw_shared.wire.knowledge import LinkFault, LinkProblem

_MAX_CANDIDATES = 10


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

    def resolve_all(self) -> list[list[LinkTarget]]:
        """Return the link targets of each page of the folder."""
        return [[self.resolve(link, entry) for link in entry.record.links] for entry in self._catalogue.entries]

    def resolve(self, link: PageLink, page: PageEntry) -> LinkTarget:
        """Return the target of a link of ``page``."""
        if link.kind is LinkKind.URL:
            return self._external_target("REFERENCES", link.target, "url")
        pages = self._catalogue.candidates(link, page)
        if link.kind is LinkKind.CODE:
            uid = pages[0].node.uid if len(pages) == 1 else self._symbols.get(fold_case(link.target))
            return LinkTarget("REFERENCES", uid)
        if link.kind is LinkKind.IMPORT:
            return self._import_target(link, pages)
        if len(pages) > 1:
            paths = tuple(sorted(entry.path for entry in pages))[:_MAX_CANDIDATES]
            return LinkTarget("LINKS_TO", problem=_problem(LinkFault.AMBIGUOUS, link, paths))
        return self._page_target(pages[0], link) if pages else self._folder_target(link, page)

    def _folder_target(self, link: PageLink, page: PageEntry) -> LinkTarget:
        path = self._catalogue.folder_of(link, page) if link.kind is LinkKind.PATH else None
        if path is None:
            return LinkTarget("LINKS_TO", problem=_problem(LinkFault.MISSING, link))
        return LinkTarget("LINKS_TO", folder_uid(self._root.tenant, self._root.context, self._catalogue.folder, path))

    def _page_target(self, target: PageEntry, link: PageLink) -> LinkTarget:
        if target.node.subtype == FILE:
            return LinkTarget("REFERENCES", target.node.uid)
        wanted = f"^{link.target}" if link.kind is LinkKind.BLOCK else link.heading
        if wanted is None:
            return LinkTarget("LINKS_TO", target.node.uid)
        heading, anchor = fold_case(wanted), slug(wanted)
        if wanted.startswith("^"):
            under = dict(target.record.blocks).get(wanted[1:])
            if not under:
                fault = None if under == "" else _problem(LinkFault.HEADING, link)
                return LinkTarget("LINKS_TO", target.node.uid, problem=fault)
            heading = anchor = under
        for position, (stored_anchor, title) in enumerate(target.record.anchors):
            if heading in {fold_case(title), stored_anchor} or anchor == stored_anchor:
                is_title = position == 0 and title == target.node.name
                return LinkTarget(
                    "LINKS_TO", target.node.uid if is_title else section_uid(target.node.uid, stored_anchor)
                )
        return LinkTarget("LINKS_TO", target.node.uid, problem=_problem(LinkFault.HEADING, link))

    def _import_target(self, link: PageLink, pages: list[PageEntry]) -> LinkTarget:
        if len(pages) == 1:
            return LinkTarget("DEPENDS_ON", pages[0].node.uid)
        if link.target.startswith("/"):
            return LinkTarget("DEPENDS_ON")
        return self._external_target("DEPENDS_ON", link.target, "module")

    def _external_target(self, edge_type: str, name: str, subtype: str) -> LinkTarget:
        uid = named_uid(self._root.tenant, self._root.context, subtype, name)
        return LinkTarget(edge_type, uid, external=ExternalTarget(name, subtype))


def _problem(fault: LinkFault, link: PageLink, candidates: tuple[str, ...] = ()) -> LinkProblem:
    return LinkProblem(fault=fault, target=link.display, line=link.line, candidates=candidates)
