"""Restore consolidated items before a change, a retraction, or an item stored between them (decision 0025).

A consolidated item that is sent again unchanged stays consolidated. Before a change, its Macro-Event is replaced by
its items; the sleep cycle may consolidate the others again. An item that belongs between consolidated items triggers
the same: a Macro-Event has the position of its last source, so a late item would precede all of its sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from vicw_core.consolidation.ledger import entries_of
from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.chain import NEXT, next_key
from vicw_shared.ports import Direction, GraphTransaction


async def latest_versions(
    transaction: GraphTransaction,
    registry: EdgeRegistry,
    now: datetime,
    hashes: Mapping[str, str | None],
) -> tuple[dict[str, Node], RestoredItems]:
    """Return the latest version of each of the context's items with these ids, consolidated ones from their ledger.

    ``hashes`` maps an id to its new ``content_hash``; None always counts as a change. Consolidated items that change
    are restored first, with all sources of their Macro-Events.
    """
    latest = await transaction.items(list(hashes))
    consolidated = await _consolidated(transaction, [key for key in hashes if not _is_live(latest.get(key))], latest)
    changing = [key for key, item in consolidated.items() if item.content_hash != hashes[key]]
    if not changing:
        return {**latest, **consolidated}, RestoredItems()
    restored = await Restorer(transaction, registry, now).restore_items(changing)
    latest = await transaction.items(list(hashes))
    unchanged = await _consolidated(transaction, [key for key in consolidated if key not in changing], latest)
    return {**latest, **unchanged}, restored


async def stored_versions(transaction: GraphTransaction, ids: Sequence[str]) -> dict[str, Node]:
    """Return the latest version of each of the context's items with these ids, as ``latest_versions``; read-only."""
    latest = await transaction.items(ids)
    return {**latest, **await _consolidated(transaction, [key for key in ids if not _is_live(latest.get(key))], latest)}


async def restore_chain_around(
    transaction: GraphTransaction, registry: EdgeRegistry, now: datetime, nodes: Sequence[Node], edges: Sequence[Edge]
) -> RestoredItems:
    """Restore Macro-Events that a late Event splits: their sources lie on both sides of one of ``nodes`` in NEXT.

    The nodes are stored already, with ``edges``.
    """
    late = {node.uid: node for node in nodes}
    follow = [(e.source, e.target) for e in edges if e.type == NEXT and e.source in late and e.target not in late]
    targets = await transaction.nodes(sorted({target for _, target in follow})) if follow else {}
    waiting = [(late[source], targets[target]) for source, target in follow if target in targets]
    items: dict[str, Node] = {}
    gone_points: list[str] = []
    while waiting:
        event, macro = waiting.pop()
        if not macro.is_macro or not await _begins_before(transaction, macro, event):
            continue
        restored = await Restorer(transaction, registry, now).restore(macro)
        items.pop(macro.uid, None)
        items |= {item.uid: item for item in restored.items}
        gone_points += restored.deleted_points
        waiting += [(event, item) for item in restored.items if next_key(item) > next_key(event)]
    return RestoredItems(tuple(items.values()), tuple(gone_points))


async def _begins_before(transaction: GraphTransaction, macro: Node, event: Node) -> bool:
    """Return whether a source of a Macro-Event precedes an Event of its flow."""
    proofs = await transaction.edges([macro.uid], ["EVIDENCED_BY"], Direction.OUT)
    passages = await transaction.nodes([proof.target for proof in proofs])
    return any(next_key(entry.item) < next_key(event) for entry in entries_of(list(passages.values())).values())


async def _consolidated(
    transaction: GraphTransaction, ids: Sequence[str], latest: Mapping[str, Node]
) -> dict[str, Node]:
    """Return the consolidated items among ``ids``, from their ledgers, unless ``latest`` has a later version."""
    passages = await transaction.consolidated(ids) if ids else {}
    items: dict[str, Node] = {}
    for key, passage in passages.items():
        (entry,) = entries_of([passage]).values()
        if key not in latest or latest[key].version < entry.item.version:
            items[key] = entry.item
    return items


def _is_live(node: Node | None) -> bool:
    return node is not None and node.retired_at is None
