"""Write pages to the graph inside the commit: their nodes, containment edges and resolved links.

Edges that a page adds (edge property ``item``) are removed with its item. The links of the folder's other pages are
resolved again on each write, so that a page that appears, moves or disappears repairs or breaks links to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, chain

from vicw_core.code.model import SymbolKind
from vicw_ingest.knowledge.catalogue import Catalogue, PageEntry, load
from vicw_ingest.knowledge.link_resolver import ExternalTarget, LinkResolver, LinkTarget
from vicw_ingest.knowledge.nodes import edge_of, external_node, folder_node, page_node, section_nodes
from vicw_ingest.knowledge.pages import KnowledgePage
from vicw_ingest.knowledge.record import PageRecord
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.knowledge import is_knowledge, page_uid
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import context_uid
from vicw_shared.wire.knowledge import LinkProblem

_BY = "knowledge"
_SYMBOLS = frozenset(SymbolKind)


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """A new or changed page, with its item and the item's passages."""

    page: KnowledgePage
    item: Node
    chunks: Sequence[Node]


@dataclass(frozen=True, slots=True)
class _Changes:
    """Changes of the graph: nodes (of several states of one, the last counts), and edges to add and to drop."""

    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    dropped: Sequence[Edge] = ()

    @classmethod
    def together(cls, changes: Iterable[_Changes]) -> _Changes:
        """Return several changes as one, in order."""
        parts = list(changes)
        nodes = chain.from_iterable(part.nodes for part in parts)
        edges = chain.from_iterable(part.edges for part in parts)
        dropped = chain.from_iterable(part.dropped for part in parts)
        return cls(list(nodes), list(edges), list(dropped))


@dataclass(frozen=True, slots=True)
class PageGraphWriter:
    """Write the pages of one context to the graph."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    root: Node

    async def write(self, changed: Sequence[ChangedPage], removed: Sequence[str]) -> dict[str, tuple[LinkProblem, ...]]:
        """Store pages, and remove those of ``removed`` items (ids).

        Return the link problems by the uid of the page's item. The items must be stored already, and the edges of
        their earlier versions removed.
        """
        stored = await self._stored_pages([*(f.item.source_id or "" for f in changed), *removed])
        folders = {f.page.folder for f in changed} | {str(node.metadata["folder"]) for node in stored.values()}
        problems: dict[str, tuple[LinkProblem, ...]] = {}
        changes: list[_Changes] = []
        for folder in sorted(folders):
            catalogue = await load(self.transaction, self.root.tenant, self.root.context, folder)
            for change in changed:
                if change.page.folder == folder:
                    entry, of_page = self._page(change, stored)
                    catalogue.add(entry)
                    changes.append(of_page)
            changes.append(self._folders(catalogue))
            folder_problems, of_links = await self._links(catalogue)
            problems |= folder_problems
            changes.append(of_links)
        await self._store(_Changes.together(changes))
        return problems

    async def _stored_pages(self, ids: Sequence[str]) -> dict[str, Node]:
        """Return the stored page nodes of these items, by uid."""
        uids = [page_uid(self.root.tenant, self.root.context, item) for item in ids]
        nodes = await self.transaction.nodes(uids) if uids else {}
        return {uid: node for uid, node in nodes.items() if is_knowledge(node)}

    def _page(self, changed: ChangedPage, stored: Mapping[str, Node]) -> tuple[PageEntry, _Changes]:
        """Return a page, and its node, its sections, and the edges that depend on this page alone."""
        page, item = changed.page, changed.item
        node = page_node(page, item, self.now, stored.get(page_uid(item.tenant, item.context, item.source_id or "")))
        sections = section_nodes(page, node, self.now)
        nodes = self._new_nodes(node, *(section for _, section in sections))
        edges = [
            self._edge("MENTIONS", item.uid, node.uid, item.uid),
            self._edge("EVIDENCED_BY", node.uid, changed.chunks[0].uid, item.uid),
        ]
        parents: list[tuple[int, str]] = [(0, node.uid)]
        ends = list(accumulate(len(chunk.text or "") for chunk in changed.chunks))
        for heading, section in sections:
            while parents[-1][0] >= heading.level:
                parents.pop()
            edges.append(self._edge("CONTAINS", parents[-1][1], section.uid, item.uid))
            proof = next((n for n, end in enumerate(ends) if heading.start < end), len(ends) - 1)
            edges.append(self._edge("EVIDENCED_BY", section.uid, changed.chunks[proof].uid, item.uid))
            parents.append((heading.level, section.uid))
        folder = folder_node(self.root, page.folder, page.parent, self.now)
        types = ["CONTAINS", *(["HAS_INDEX"] if page.is_index else []), *(["HAS_ENTRYPOINT"] if page.is_entry else [])]
        edges += [self._edge(edge_type, folder.uid, node.uid, item.uid) for edge_type in types]
        return PageEntry(node, PageRecord.of(node), fresh=True), replace(nodes, edges=[*nodes.edges, *edges])

    def _folders(self, catalogue: Catalogue) -> _Changes:
        """Return nodes for folders that gained pages, nested in each other, and retire those of empty folders."""
        needed = {"", *catalogue.subfolders} if catalogue.entries else set()
        changes: list[_Changes] = []
        for path in sorted(needed - catalogue.folders.keys()):
            node = folder_node(self.root, catalogue.folder, path, self.now)
            changes += [self._new_nodes(node), _Changes(edges=[self._nesting(catalogue, path, node)] if path else ())]
        for path in sorted(catalogue.folders.keys() - needed):
            node = catalogue.folders[path]
            nesting = self._nesting(catalogue, path, node)
            changes.append(_Changes([replace(node, retired_at=self.now)], dropped=[nesting]))
        return _Changes.together(changes)

    def _nesting(self, catalogue: Catalogue, path: str, node: Node) -> Edge:
        """Return the edge from a folder's parent to its node."""
        parent = folder_node(self.root, catalogue.folder, "/".join(path.split("/")[:-1]), self.now)
        return edge_of(self.registry, "CONTAINS", parent.uid, node.uid, self.now, _BY)

    async def _links(self, catalogue: Catalogue) -> tuple[dict[str, tuple[LinkProblem, ...]], _Changes]:
        """Return the problems of the links of a folder's pages, and the changes of where they lead."""
        resolver = LinkResolver(catalogue, self.root, await self._symbols(catalogue))
        problems: dict[str, tuple[LinkProblem, ...]] = {}
        external: dict[str, ExternalTarget] = {}
        changes: list[_Changes] = []
        targets_by_page = await asyncio.to_thread(resolver.resolve_all)
        for entry, targets in zip(catalogue.entries, targets_by_page, strict=True):
            external |= {
                target.uid: target.external for target in targets if target.external is not None and target.uid
            }
            changes.append(self._page_links(entry, targets, resolver))
            problems[entry.record.item] = tuple(target.problem for target in targets if target.problem is not None)
        stored = await self.transaction.nodes(list(external))
        new = [uid for uid in external if uid not in stored or stored[uid].retired_at is not None]
        changes += [self._new_nodes(external_node(uid, external[uid], self.root, self.now)) for uid in new]
        return problems, _Changes.together(changes)

    def _page_links(self, entry: PageEntry, targets: Sequence[LinkTarget], resolver: LinkResolver) -> _Changes:
        """Return the changed edges of a page's links."""
        uids, record = tuple(target.uid for target in targets), entry.record
        linked = {
            (target.type, target.uid) for target in targets if target.uid is not None and target.uid != entry.node.uid
        }
        if not entry.fresh and uids == record.leads_to:
            return _Changes()
        stale = [uid for uid in record.leads_to if uid is not None and uid not in uids] if not entry.fresh else []
        ends = [(edge_type, uid) for uid in dict.fromkeys(stale) for edge_type in resolver.types]
        return _Changes(
            [replace(entry.node, metadata=record.model_copy(update={"leads_to": uids}).dump())],
            [self._edge(edge_type, entry.node.uid, uid, record.item) for edge_type, uid in sorted(linked)],
            [self._edge(edge_type, entry.node.uid, uid, record.item) for edge_type, uid in ends],
        )

    async def _symbols(self, catalogue: Catalogue) -> dict[str, str]:
        """Return the uids of symbols that code of the context defines, by the case-folded names used in pages."""
        names = {fold_case(name) for entry in catalogue.entries for name in LinkResolver.names_of_code(entry)}
        nodes_by_name = await self.transaction.named(sorted(names)) if names else {}
        symbols = {name: [node for node in nodes if node.subtype in _SYMBOLS] for name, nodes in nodes_by_name.items()}
        uids = [node.uid for nodes in symbols.values() for node in nodes]
        edges = await self.transaction.edges(uids, ["CONTAINS"], Direction.IN) if uids else []
        defined = {edge.target for edge in edges}
        certain = {name: [node.uid for node in nodes if node.uid in defined] for name, nodes in symbols.items()}
        return {name: uids[0] for name, uids in certain.items() if len(uids) == 1}

    def _new_nodes(self, *nodes: Node) -> _Changes:
        belongs = [edge_of(self.registry, "BELONGS_TO", node.uid, self.root.uid, self.now, _BY) for node in nodes]
        return _Changes(nodes, belongs)

    def _edge(self, edge_type: str, source: str, target: str, item: str) -> Edge:
        return edge_of(self.registry, edge_type, source, target, self.now, _BY, item=item)

    async def _store(self, changes: _Changes) -> None:
        await self.transaction.put_nodes(list({node.uid: node for node in changes.nodes}.values()))
        await self.transaction.drop_edges(changes.dropped)
        await self.transaction.put_edges(list({edge.id: edge for edge in changes.edges}.values()))


async def remove_pages(
    transaction: GraphTransaction, registry: EdgeRegistry, now: datetime, items: Sequence[Node]
) -> None:
    """Remove the pages of these retired items of one context from their folders; other items are ignored."""
    ids = [item.source_id for item in items if item.source_id is not None]
    if ids:
        uid = context_uid(items[0].tenant, items[0].context)
        root = (await transaction.nodes([uid]))[uid]
        await PageGraphWriter(transaction, registry, now, root).write([], ids)
