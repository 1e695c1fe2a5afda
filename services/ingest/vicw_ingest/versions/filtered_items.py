"""Callers' items that a filter chooses, to be retracted or erased: each by itself, consolidated or not.

A listing shows an item that consolidation made in place of its sources. A change is about the sources: each of them is
compared with the filter by what it had when it was consolidated, which its ledger keeps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import batched
from typing import NamedTuple

from vicw_core.consolidation.ledger import LedgerEntry, entries_of
from vicw_core.filters.predicate import ItemFields, accepts
from vicw_ingest.identity.users import STATED_BY, USER
from vicw_ingest.versions.restore import stored_versions
from vicw_shared.model import Node
from vicw_shared.model.core5 import MACRO
from vicw_shared.ports import Direction, GraphStore
from vicw_shared.ports.item_filter import ItemCondition, Not, OneOf
from vicw_shared.text import fold_case

_NO_LIMIT = 2**53
BATCH = 1000
_TAGGED, _BUCKET = "TAGGED", "bucket"


class _Version(NamedTuple):
    """What is kept of a node: ``key`` is the item's id, or its uid if it has none (a patch makes that the id)."""

    uid: str
    context: str
    key: str


@dataclass(frozen=True, slots=True)
class FilteredItems:
    """The uids by context, in order, of items of which the latest version passes; ``everything``: of all items."""

    by_context: dict[str, list[str]]
    everything: bool


async def choose_live(graph: GraphStore, tenant: str, condition: ItemCondition) -> list[str]:
    """Return the uids of the live items that pass, in order."""
    return await _Choice(graph, tenant, condition).live()


async def choose_stored(graph: GraphStore, tenant: str, condition: ItemCondition) -> FilteredItems:
    """Return the items of which the latest version passes: live ones, and those that were taken back."""
    return await _Choice(graph, tenant, condition).stored()


@dataclass(slots=True)
class _Choice:
    """Of many items it keeps the uids alone: their nodes are read in batches, where they are needed at all."""

    graph: GraphStore
    tenant: str
    condition: ItemCondition
    _fails: bool = False
    """Whether a consolidated item does not pass."""

    async def live(self) -> list[str]:
        passing = set(await self.graph.passing_items(self.tenant, self.condition, _NO_LIMIT, live=True))
        macros = await self._live_macros()
        passing.difference_update(macros)
        passing.update([version.uid async for version in self._consolidated(macros)])
        return sorted(passing)

    async def stored(self) -> FilteredItems:
        passing: list[_Version] = []
        for batch in batched(await self.graph.passing_items(self.tenant, self.condition, _NO_LIMIT), BATCH):
            passing += await self._versions(batch)
        chosen = {version.uid: version.context for version in await self._latest(passing)}
        async for version in self._consolidated(await self._live_macros()):
            chosen[version.uid] = version.context
        by_context: dict[str, list[str]] = {}
        for uid, context in sorted(chosen.items()):
            by_context.setdefault(context, []).append(uid)
        return FilteredItems(by_context, not self._fails and not await self._others())

    async def _versions(self, uids: Sequence[str]) -> list[_Version]:
        """Return the callers' items among these uids."""
        return [_version(node) for node in await self._nodes(uids) if not node.is_macro]

    async def _latest(self, versions: Sequence[_Version]) -> list[_Version]:
        """Leave out versions that were replaced: what an item was no longer counts."""
        kept: list[_Version] = []
        by_context: dict[str, list[_Version]] = {}
        for version in versions:
            by_context.setdefault(version.context, []).append(version)
        for context, of_context in by_context.items():
            for batch in batched(of_context, BATCH):
                look = partial(stored_versions, ids=list(dict.fromkeys(version.key for version in batch)))
                latest = await self.graph.write(self.tenant, context, look)
                kept += [one for one in batch if one.key not in latest or latest[one.key].uid == one.uid]
        return kept

    async def _live_macros(self) -> list[str]:
        """Return the uids of what consolidation made, in order."""
        made = await self.graph.passing_items(self.tenant, OneOf("subtype", (MACRO,)), _NO_LIMIT, live=True)
        return [
            node.uid for batch in batched(sorted(made), BATCH) for node in await self._nodes(batch) if node.is_macro
        ]

    async def _consolidated(self, macros: Sequence[str]) -> AsyncIterator[_Version]:
        """Yield the consolidated items of callers that pass, by the fields that their edges had."""
        for batch in batched(macros, BATCH):
            proofs = await self.graph.expand(self.tenant, batch, [("EVIDENCED_BY", Direction.OUT)], _NO_LIMIT)
            passages = list({one.node.uid: one.node for one in proofs}.values())
            entries = [one for one in entries_of(passages).values() if not one.item.is_macro]
            ends = {edge.target for one in entries for edge in one.edges if edge.type in {_TAGGED, STATED_BY}}
            targets = {node.uid: node for node in await self._nodes(sorted(ends))}
            for entry in entries:
                if accepts(self.condition, _fields(entry, targets)):
                    yield _version(entry.item)
                else:
                    self._fails = True

    async def _others(self) -> bool:
        """Return whether the latest version of an item does not pass."""
        for most in (BATCH, _NO_LIMIT):  # one is enough, and unless much was replaced the first are such
            failing = await self.graph.passing_items(self.tenant, Not(self.condition), most)
            for batch in batched(failing, BATCH):
                if await self._latest(await self._versions(batch)):
                    return True
            if len(failing) < most:
                break
        return False

    async def _nodes(self, uids: Sequence[str]) -> list[Node]:
        nodes: list[Node] = []
        for batch in batched(uids, BATCH):
            nodes += (await self.graph.nodes(self.tenant, list(batch))).values()
        return nodes


def _version(node: Node) -> _Version:
    return _Version(node.uid, node.context, node.source_id or node.uid)


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
