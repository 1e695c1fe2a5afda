"""Turn the imports in a page's code into page links and remove them from its extraction, to resolve them later."""

from __future__ import annotations

from dataclasses import replace

from vicw_ingest.extraction.model import TextExtraction
from vicw_ingest.knowledge.links import LinkKind, PageLink
from vicw_ingest.knowledge.pages import KnowledgePage
from vicw_shared.model.knowledge import FILE

_IMPORTS = "imports"


def with_import_links(page: KnowledgePage, extraction: TextExtraction | None) -> KnowledgePage:
    """Return the page with the imports of its code as links, and remove these from its extraction.

    For prose pages, paths that the page links to are removed: they are resolved when the page is written.
    """
    if extraction is None:
        return page
    if page.kind != FILE:
        linked_paths = " ".join(link.target for link in page.links)
        paths = {entity.key for entity in extraction.entities if entity.kind == FILE and entity.name in linked_paths}
        extraction.entities = [entity for entity in extraction.entities if entity.key not in paths]
        extraction.relations = [link for link in extraction.relations if paths.isdisjoint((link.source, link.target))]
        return page
    ends = {link.target for link in extraction.relations if link.type == "DEPENDS_ON" and link.desc == _IMPORTS}
    extraction.relations = [link for link in extraction.relations if link.target not in ends]
    modules = [entity for entity in extraction.entities if entity.key in ends]
    extraction.entities = [entity for entity in extraction.entities if entity.key not in ends]
    links = (
        PageLink(LinkKind.IMPORT, f"/{entity.name}" if entity.kind == FILE else entity.name, 0) for entity in modules
    )
    return replace(page, links=tuple(dict.fromkeys((*page.links, *links))))
