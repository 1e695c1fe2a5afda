"""List the pages of a knowledge folder for synchronising clients: the use case behind ``GET /knowledge``."""

from __future__ import annotations

from vicw_ingest.knowledge.catalogue import Catalogue, PageEntry, read
from vicw_ingest.knowledge.link_resolver import LinkResolver
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore
from vicw_shared.uids import context_uid
from vicw_shared.wire.knowledge import KnowledgeQuery, KnownPage, KnownPages


async def list_pages(graph: GraphStore, tenant: str, query: KnowledgeQuery) -> KnownPages:
    """Return one result page of a folder's pages, by path, then id; an empty one for an unknown folder."""
    uid = context_uid(tenant, query.context)
    root = (await graph.nodes(tenant, [uid])).get(uid)
    catalogue = await read(graph, tenant, query.context, query.folder) if root is not None else Catalogue(query.folder)
    entries = sorted(catalogue.entries, key=_sort_key)
    rest = [entry for entry in entries if query.after is None or _sort_key(entry) > query.after]
    page_entries = rest[: query.limit]
    return KnownPages(
        context=query.context,
        folder=query.folder,
        pages=tuple(_to_wire(entry, catalogue, root) for entry in page_entries if root is not None),
        next=_sort_key(page_entries[-1]) if len(rest) > len(page_entries) else None,
    )


def _sort_key(entry: PageEntry) -> str:
    """Return the sort key of a page: its path, then its id, because two items may name the same file."""
    return f"{entry.path}\t{entry.record.id}"


def _to_wire(entry: PageEntry, catalogue: Catalogue, root: Node) -> KnownPage:
    record = entry.record
    resolver = LinkResolver(catalogue, root, {})
    targets = (resolver.resolve(link, entry) for link in record.links)
    return KnownPage(
        id=record.id,
        uid=entry.node.uid,
        path=entry.path,
        title=entry.node.name,
        key=record.key,
        sha256=record.sha256,
        links=tuple(target.problem for target in targets if target.problem is not None),
    )
