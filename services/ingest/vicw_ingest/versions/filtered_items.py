"""Callers' items that a filter chooses, to be retracted or erased: each by itself, consolidated or not.

A listing shows an item that consolidation made in place of its sources. A change is about the sources: each of them is
compared with the filter by what it had when it was consolidated, which its ledger keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import batched

from vicw_core.consolidation.ledger import LedgerEntry, entries_of
from vicw_core.filters.predicate import ItemFields, accepts
from vicw_ingest.identity.users import STATED_BY, USER
from vicw_ingest.versions.restore import stored_versions
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.model.core5 import MACRO
from vicw_shared.ports import Direction, GraphStore, ListingQuery, Scope
from vicw_shared.ports.item_filter import ItemCondition, Not, OneOf
from vicw_shared.text import fold_case

_NO_LIMIT = 2**53
_BATCH = 1000
_TAGGED, _BUCKET = "TAGGED", "bucket"


@dataclass(frozen=True, slots=True)
class FilteredItems:
    """The latest versions of items that pass, by uid; ``everything``: no other item is stored."""

    items: dict[str, Node]
    everything: bool

    @property
    def by_context(self) -> dict[str, list[str]]:
        """The uids by context, in order."""
        contexts: dict[str, list[str]] = {}
        for uid, node in sorted(self.items.items()):
            contexts.setdefault(node.context, []).append(uid)
        return contexts


async def choose_filtered(
    graph: GraphStore, tenant: str, condition: ItemCondition, *, retired: bool = False
) -> FilteredItems:
    """Return the items of which the latest version passes: live ones, or with ``retired`` those taken back, too."""
    return await _Choice(graph, tenant, condition, retired).choose()


@dataclass(slots=True)
class _Choice:
    graph: GraphStore
    tenant: str
    condition: ItemCondition
    retired: bool
    _macros: set[str] = field(default_factory=set)

    async def choose(self) -> FilteredItems:
        passing = await self._nodes(await self.graph.passing_items(self.tenant, self.condition, _NO_LIMIT))
        own = [node for node in passing if not node.is_macro and (self.retired or node.retired_at is None)]
        items = {node.uid: node for node in (await self._latest(own) if self.retired else own)}
        entries = await self._consolidated()
        chosen = {uid: entry.item for uid, (entry, fields) in entries.items() if accepts(self.condition, fields)}
        everything = len(chosen) == len(entries) and not await self._others()
        return FilteredItems(items | chosen, everything)

    async def _latest(self, nodes: Sequence[Node]) -> list[Node]:
        """Leave out versions that were replaced: what an item was no longer counts."""
        kept: list[Node] = []
        by_context: dict[str, list[Node]] = {}
        for node in nodes:
            by_context.setdefault(node.context, []).append(node)
        for context, of_context in by_context.items():
            for batch in batched(of_context, _BATCH):
                keys = {node.uid: node.source_id or node.uid for node in batch}  # a patch makes an uid an id
                look = partial(stored_versions, ids=list(dict.fromkeys(keys.values())))
                latest = await self.graph.write(self.tenant, context, look)
                kept += [node for node in batch if latest.get(keys[node.uid], node).uid == node.uid]
        return kept

    async def _consolidated(self) -> dict[str, tuple[LedgerEntry, ItemFields]]:
        """Return all consolidated items of callers, with the fields that their edges had."""
        made = await self.graph.passing_items(self.tenant, OneOf("subtype", (MACRO,)), _NO_LIMIT)
        macros = [node for node in await self._nodes(made) if node.is_macro and node.retired_at is None]
        self._macros = {node.uid for node in macros}
        found: dict[str, tuple[LedgerEntry, ItemFields]] = {}
        for batch in batched(sorted(self._macros), _BATCH):
            proofs = await self.graph.expand(self.tenant, batch, [("EVIDENCED_BY", Direction.OUT)], _NO_LIMIT)
            passages = list({one.node.uid: one.node for one in proofs}.values())
            entries = {uid: one for uid, one in entries_of(passages).items() if not one.item.is_macro}
            ends = {edge.target for one in entries.values() for edge in one.edges if edge.type in {_TAGGED, STATED_BY}}
            targets = {node.uid: node for node in await self._nodes(sorted(ends))}
            found |= {uid: (one, _fields(one, targets)) for uid, one in entries.items()}
        return found

    async def _others(self) -> bool:
        """Return whether a caller's item does not pass that would otherwise be chosen."""
        most = len(self._macros) + 1  # more than what consolidation made
        if self.retired:
            others = await self._nodes(await self.graph.passing_items(self.tenant, Not(self.condition), most))
        else:
            scope = Scope(tenant=self.tenant, now=now())
            others = await self.graph.list_items(ListingQuery(scope=scope, condition=Not(self.condition)), most)
        return any(node.uid not in self._macros for node in others)

    async def _nodes(self, uids: Sequence[str]) -> list[Node]:
        nodes: list[Node] = []
        for batch in batched(uids, _BATCH):
            nodes += (await self.graph.nodes(self.tenant, list(batch))).values()
        return nodes


def _fields(entry: LedgerEntry, targets: dict[str, Node]) -> ItemFields:
    tags: set[str] = set()
    users: set[str] = set()
    for edge in entry.edges:
        target = targets.get(edge.target)
        if target is None or edge.source != entry.item.uid:
            continue
        kind = fold_case(target.subtype)
        if edge.type == _TAGGED and kind != _BUCKET:
            tags |= {*map(fold_case, (target.name, *target.aliases))}
        elif edge.type == STATED_BY and kind == USER:
            users.add(target.name)
    return ItemFields(entry.item, frozenset(tags), frozenset(users))
