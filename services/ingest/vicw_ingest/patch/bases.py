"""The stored versions that items were merged into, inside the transaction that stores what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_ingest.plan.drafts import ItemDraft
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.wire.ingest import IngestRequest


@dataclass(frozen=True, slots=True)
class MergeBase:
    """The stored version that an item was merged into, and whether the merge changed nothing."""

    node: Node
    unchanged: bool


type Bases = Mapping[int, MergeBase | None]
"""By the items' indexes; None: nothing was stored."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A request without patches, and what its items were merged into, by index (None: nothing is stored)."""

    request: IngestRequest
    bases: Bases = field(default_factory=dict)


class ChangedMeanwhileError(Exception):
    """Another request changed an item between the merge and the transaction: the merge has to be made anew."""


def keep_hashes(drafts: Sequence[ItemDraft], bases: Bases) -> list[ItemDraft]:
    """Return the drafts; one that a merge did not change has the hash of the stored version."""
    same = {index: base.node.content_hash for index, base in bases.items() if base is not None and base.unchanged}
    return [replace(one, content_hash=same.get(one.index) or one.content_hash) for one in drafts]


async def with_bases(
    bases: Bases,
    drafts: Sequence[ItemDraft],
    latest: dict[str, Node],
    restored: RestoredItems,
    transaction: GraphTransaction,
    registry: EdgeRegistry,
    now: datetime,
) -> tuple[dict[str, Node], RestoredItems]:
    """Return the latest versions with those of items without an id, whose uids become their ids.

    Raises ChangedMeanwhileError if one is not any more what was merged into.
    """
    unnamed = [base.node.uid for base in bases.values() if base is not None and base.node.source_id is None]
    if unnamed:
        changing = [
            base.node.uid for base in bases.values() if base and base.node.uid in unnamed and not base.unchanged
        ]
        more = await Restorer(transaction, registry, now).restore_uids(changing) if changing else RestoredItems()
        points = (*restored.deleted_points, *more.deleted_points)
        restored = RestoredItems((*restored.items, *more.items), points)
        stored = await transaction.nodes(unnamed)
        consolidated = {base.node.uid: base.node for base in bases.values() if base and base.node.uid in unnamed}
        latest = consolidated | stored | latest
    for draft in drafts:
        if draft.index not in bases:
            continue
        base, node = bases[draft.index], latest.get(draft.item.id or "")
        live = node if node is not None and node.retired_at is None else None
        if (live.uid if live is not None else None) != (base.node.uid if base is not None else None):
            raise ChangedMeanwhileError
    return latest, restored
