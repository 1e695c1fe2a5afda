"""Build the nodes and edges of the knowledge sub-graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePosixPath

from vicw_core.graph.edge_factory import EdgeFactory
from vicw_core.markdown.outline import Heading
from vicw_ingest.knowledge.link_resolver import ExternalTarget
from vicw_ingest.knowledge.pages import INDEXES, KnowledgePage, stem_of
from vicw_ingest.knowledge.record import PageRecord
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.knowledge import (
    FOLDER,
    PAGE,
    ROOT_ALIAS,
    SECTION,
    folder_name,
    folder_uid,
    page_uid,
    section_uid,
)

_NAME_CHARS = 512


def page_node(page: KnowledgePage, item: Node, now: datetime, stored: Node | None = None) -> Node:
    """Return the node of a page. It keeps the creation time of ``stored``, its node in the graph."""
    record = PageRecord(
        folder=page.folder,
        path=page.path,
        item=item.uid,
        id=item.source_id or "",
        sha256=page.sha256,
        key=page.key,
        slug=page.slug,
        aliases=page.aliases,
        anchors=tuple((heading.anchor, heading.title) for heading in page.headings),
        blocks=page.blocks,
        links=page.links,
        leads_to=(None,) * len(page.links),
        words=page.subjects.words,
        keys=page.subjects.keys,
        rules=page.subjects.rules,
    )
    return Node(
        uid=page_uid(item.tenant, item.context, item.source_id or ""),
        label=Label.ENTITY,
        tenant=item.tenant,
        context=item.context,
        name=page.title[:_NAME_CHARS],
        title=page.title[:_NAME_CHARS],
        aliases=_alternative_names(page),
        text=page.summary,
        source=page.path,
        subtype=page.kind,
        domain=item.domain,
        metadata=record.dump(),
        created_at=stored.created_at if stored is not None else now,
    )


def _alternative_names(page: KnowledgePage) -> tuple[str, ...]:
    """Return the alternative names of a page: its aliases, ids, path and file name."""
    names = [*page.aliases, *page.subjects.keys, page.path, str(PurePosixPath(page.path).with_suffix(""))]
    if page.kind == PAGE and stem_of(page.path) not in INDEXES:
        names.append(PurePosixPath(page.path).stem)
    return tuple(name for name in dict.fromkeys(names) if name != page.title)


def section_nodes(page: KnowledgePage, node: Node, now: datetime) -> list[tuple[Heading, Node]]:
    """Return a page's sections: its headings, except a first one that repeats the title."""
    headings: Sequence[Heading] = page.headings
    if headings and headings[0].title == page.title:
        headings = headings[1:]
    return [
        (
            heading,
            Node(
                uid=section_uid(node.uid, heading.anchor),
                label=Label.ENTITY,
                tenant=node.tenant,
                context=node.context,
                name=f"{page.title} > {heading.title}"[:_NAME_CHARS],
                title=heading.title[:_NAME_CHARS],
                source=page.path,
                subtype=SECTION,
                domain=node.domain,
                metadata={"folder": page.folder, "path": page.path, "anchor": heading.anchor},
                created_at=now,
            ),
        )
        for heading in headings
    ]


def folder_node(root: Node, folder: str, path: str, now: datetime) -> Node:
    """Return the node of a folder; the knowledge folder itself has an empty ``path``."""
    return Node(
        uid=folder_uid(root.tenant, root.context, folder, path),
        label=Label.ENTITY,
        tenant=root.tenant,
        context=root.context,
        name=folder_name(folder, path),
        title=folder_name(folder, path),
        aliases=() if path else (ROOT_ALIAS,),
        subtype=FOLDER,
        domain=root.domain,
        metadata={"folder": folder, "path": path},
        created_at=now,
    )


def external_node(uid: str, outside: ExternalTarget, root: Node, now: datetime) -> Node:
    """Return the node of a link target outside the folder."""
    return Node(
        uid=uid,
        label=Label.ENTITY,
        tenant=root.tenant,
        context=root.context,
        name=outside.name[:_NAME_CHARS],
        title=outside.name[:_NAME_CHARS],
        subtype=outside.subtype,
        domain=root.domain,
        created_at=now,
    )


def edge_of(
    registry: EdgeRegistry,
    edge_type: str,
    source: str,
    target: str,
    now: datetime,
    by: str,
    *,
    item: str | None = None,
) -> Edge:
    """Return an edge that depends on ``item``, or on no item."""
    return EdgeFactory(registry, now).edge(edge_type, source, target, by=by, item=item, source_item=item or "")
