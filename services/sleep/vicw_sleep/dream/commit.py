"""Commit of dreams: adds auto-tags in one transaction and checks all input again, since it may have changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vicw_core.graph.canonical import canonical_nodes
from vicw_core.graph.dreams import MAKER, dream_edges
from vicw_core.graph.edge_factory import DREAM, EdgeFactory
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import Direction, GraphTransaction, MaintenanceStep, Outcome
from vicw_shared.text import fold_case
from vicw_shared.uids import context_uid, make_uid, named_uid
from vicw_sleep.dream.auto_tags import GENERIC, Tag
from vicw_sleep.mirror.atoms import Atom

STEP = "step"
"""Property of a dream's nodes and edges: the id of its step."""


@dataclass(frozen=True, slots=True)
class DreamResult:
    """The dream of an item: ``tags``, the most certain first.

    ``others`` are the items (uids) read for it: its tags may come from their tags and words.
    """

    atom: Atom
    tags: Sequence[Tag] = ()
    others: Collection[str] = ()


@dataclass(slots=True)
class AddedTags:
    """The added ``tags``, by the item of their step, and the added ``edges``."""

    tags: dict[str, list[str]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def of(self, dream: DreamResult) -> DreamResult:
        """Return the part of an item's dream that was added."""
        tags = self.tags.get(dream.atom.item.uid, [])
        return DreamResult(dream.atom, [tag for tag in dream.tags if tag.name in tags])


def step_id(item: str) -> str:
    """Return the id of the step of an item (uid): an item has one dream."""
    return make_uid(DREAM, item)


@dataclass(frozen=True, slots=True)
class DreamCommit:
    """Adds tags to items of one context. ``max_tags`` is the maximum number of an item's tags, auto-tags included.

    With ``dry_run_degrees``, the number of edges that each tag would have got so far in a dry run, nothing is added.
    """

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    max_tags: int
    dry_run_degrees: Counter[str] | None = None

    async def add(self, dreams: Sequence[DreamResult]) -> AddedTags:
        """Add tags to items that have not changed since they were read, and log a step for each item that got any."""
        items = sorted({dream.atom.item.uid for dream in dreams})
        nodes = await self.transaction.nodes(sorted({*items, *(uid for dream in dreams for uid in dream.others)}))
        edges = await self.transaction.edges(items, ["TAGGED", AUTO_TAGGED], Direction.OUT)
        live = [dream for dream in dreams if self._is_live(nodes, dream)]
        added = AddedTags()
        await self._add_tags(live, edges, added)
        for dream in live:
            if self.dry_run_degrees is None and dream.atom.item.uid in added.tags:
                await self.transaction.log_step(self._step(dream.atom.item, added))
        return added

    @staticmethod
    def _is_live(nodes: Mapping[str, Node], dream: DreamResult) -> bool:
        """Return whether an item and everything read for it is still live: erased data must not leave a tag behind."""
        uids = (dream.atom.item.uid, *dream.others)
        return all(uid in nodes and nodes[uid].retired_at is None for uid in uids)

    async def _add_tags(self, dreams: Sequence[DreamResult], edges: Iterable[Edge], added: AddedTags) -> None:
        tagged: dict[str, set[str]] = {dream.atom.item.uid: set() for dream in dreams}
        auto = dict.fromkeys(tagged, 0)
        for edge in edges:
            tagged[edge.source].add(edge.target)
            auto[edge.source] += edge.type == AUTO_TAGGED
        names = {tag.name for dream in dreams for tag in dream.tags}
        tag_nodes = await self._tag_nodes(dreams[0].atom.item, names) if names else {}
        degrees = Counter(
            await self.transaction.degrees([node.uid for node in tag_nodes.values()]) if tag_nodes else {}
        )
        if self.dry_run_degrees is not None:
            degrees.update({node.uid: self.dry_run_degrees[node.uid] for node in tag_nodes.values()})
        used: dict[str, Node] = {}
        for dream in dreams:
            uid = dream.atom.item.uid
            room = self.max_tags - len(dream.atom.tags) - auto[uid]
            for tag in dream.tags:
                node = tag_nodes.get(tag.name)
                if room <= 0 or node is None or node.uid in tagged[uid] or degrees[node.uid] >= GENERIC:
                    continue
                properties = {"certainty": tag.certainty, "reason": tag.reason, STEP: step_id(uid)}
                edge_to_tag = EdgeFactory(self.registry, self.now).edge(
                    AUTO_TAGGED, uid, node.uid, by=DREAM, properties=properties
                )
                added.edges.append(edge_to_tag)
                used[node.uid] = node
                tagged[uid].add(node.uid)
                degrees[node.uid] += 1
                added.tags.setdefault(uid, []).append(tag.name)
                room -= 1
        if added.edges and self.dry_run_degrees is None:
            await self._put(list(used.values()), added.edges)

    async def _tag_nodes(self, item: Node, names: Iterable[str]) -> dict[str, Node]:
        """Return the tag of each name, including new ones; none for a name that callers have retired."""
        tenant, context = item.tenant, item.context
        uids = {named_uid(tenant, context, "tag", name): name for name in names}
        stored = await self.transaction.nodes(list(uids))
        canonical = await canonical_nodes(self.transaction, stored.values(), within=context)
        root = (await self.transaction.nodes([context_uid(tenant, context)]))[context_uid(tenant, context)]
        tag_nodes: dict[str, Node] = {}
        for uid, name in uids.items():
            node = canonical.get(uid) or self._new_tag(root, uid, name)
            if node.retired_at is not None and node.metadata.get(MAKER) == DREAM:
                node = self._new_tag(root, uid, name)
            if node.retired_at is None and node.label is Label.CONCEPT and fold_case(node.subtype) == "tag":
                tag_nodes[name] = node
        return tag_nodes

    def _new_tag(self, root: Node, uid: str, name: str) -> Node:
        return Node(
            uid=uid,
            label=Label.CONCEPT,
            tenant=root.tenant,
            context=root.context,
            name=name,
            title=name,
            subtype="tag",
            domain=root.domain,
            created_at=self.now,
            metadata={MAKER: DREAM},
        )

    async def _put(self, tags: Sequence[Node], edges: Sequence[Edge]) -> None:
        fresh = [tag for tag in tags if tag.created_at == self.now and tag.metadata.get(MAKER) == DREAM]
        await self.transaction.put_nodes(fresh)
        edge_factory = EdgeFactory(self.registry, self.now)
        belongs_to = [
            edge_factory.edge("BELONGS_TO", tag.uid, context_uid(tag.tenant, tag.context), by=DREAM) for tag in fresh
        ]
        await self.transaction.put_edges([*belongs_to, *edges])

    def _step(self, item: Node, added: AddedTags) -> MaintenanceStep:
        return MaintenanceStep(
            id=step_id(item.uid),
            tenant=item.tenant,
            context=item.context,
            task=DREAM,
            outcome=Outcome.DONE,
            at=self.now,
            subject=item.uid,
            details={
                "name": item.name,
                "tags": added.tags[item.uid],
            },
        )


def dreamt_in(edges: Iterable[Edge], step: str) -> list[Edge]:
    """Return the edges that a step made."""
    return [edge for edge in dream_edges(edges) if edge.properties.get(STEP) == step]
