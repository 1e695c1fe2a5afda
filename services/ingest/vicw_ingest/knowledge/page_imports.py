"""Turn the imports in a page's code into page links and remove them from its extraction, to resolve them later."""

from __future__ import annotations

from dataclasses import replace

from vicw_ingest.extraction.model import TextExtraction
from vicw_ingest.knowledge.links import LinkKind, PageLink
from vicw_ingest.knowledge.pages import KnowledgePage
from vicw_shared.model.knowledge import FILE

_IMPORTS = "imports"


def with_import_links(page: KnowledgePage, reading: TextExtraction | None) -> KnowledgePage:
    """Return the page with the imports of its code as links, and remove these from its extraction.

    For prose pages, paths that the page links to are removed: they are resolved when the page is written.
    """
    if reading is None:
        return page
    if page.kind != FILE:
        said = " ".join(link.target for link in page.links)
        paths = {thing.key for thing in reading.things if thing.kind == FILE and thing.name in said}
        reading.things = [thing for thing in reading.things if thing.key not in paths]
        reading.links = [link for link in reading.links if paths.isdisjoint((link.source, link.target))]
        return page
    ends = {link.target for link in reading.links if link.type == "DEPENDS_ON" and link.desc == _IMPORTS}
    reading.links = [link for link in reading.links if link.target not in ends]
    modules = [thing for thing in reading.things if thing.key in ends]
    reading.things = [thing for thing in reading.things if thing.key not in ends]
    links = (PageLink(LinkKind.IMPORT, f"/{thing.name}" if thing.kind == FILE else thing.name, 0) for thing in modules)
    return replace(page, links=tuple(dict.fromkeys((*page.links, *links))))
