"""List the pages of a knowledge folder for synchronising clients: the use case behind ``GET /knowledge``."""

from __future__ import annotations

from vicw_ingest.knowledge.catalogue import Catalogue, PageEntry, read
from vicw_ingest.knowledge.link_resolver import LinkResolver
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore
from vicw_shared.uids import context_uid
from vicw_shared.wire.knowledge import KnowledgeQuery, KnownPage, KnownPages


async def list_pages(graph: GraphStore, tenant: str, asked: KnowledgeQuery) -> KnownPages:
    """Return one result page of a folder's pages, by path, then id; an empty one for an unknown folder."""
    uid = context_uid(tenant, asked.context)
    root = (await graph.nodes(tenant, [uid])).get(uid)
    catalogue = await read(graph, tenant, asked.context, asked.folder) if root is not None else Catalogue(asked.folder)
    entries = sorted(catalogue.entries, key=_mark)
    rest = [entry for entry in entries if asked.after is None or _mark(entry) > asked.after]
    shown = rest[: asked.limit]
    return KnownPages(
        context=asked.context,
        folder=asked.folder,
        pages=tuple(_known(entry, catalogue, root) for entry in shown if root is not None),
        next=_mark(shown[-1]) if len(rest) > len(shown) else None,
    )


def _mark(entry: PageEntry) -> str:
    """Return the sort key of a page: its path, then its id, because two items may name the same file."""
    return f"{entry.path}\t{entry.record.id}"


def _known(entry: PageEntry, catalogue: Catalogue, root: Node) -> KnownPage:
    said = entry.record
    leading = LinkResolver(catalogue, root, {})
    steps = (leading.step(link, entry) for link in said.links)
    return KnownPage(
        id=said.id,
        uid=entry.node.uid,
        path=entry.path,
        title=entry.node.name,
        key=said.key,
        sha256=said.sha256,
        links=tuple(step.problem for step in steps if step.problem is not None),
    )
