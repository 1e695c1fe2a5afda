"""Items that a Macro-Event stands for, when somebody sends them again, changes them or takes them back (decision 0025).

What is sent again as it was is known. Before one changes, its Macro-Event becomes its items again: then it changes as
every item does, and the sleep cycle may fold the rest anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from vicw_shared.folding.ledger import entries_of
from vicw_shared.folding.unfold import Unfolded, Unfolder
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import GraphTransaction


async def latest_versions(
    transaction: GraphTransaction,
    registry: EdgeRegistry,
    now: datetime,
    hashes: Mapping[str, str | None],
) -> tuple[dict[str, Node], Unfolded]:
    """Return the latest version of each of the context's items with these ids, folded ones that stay as they were.

    ``hashes`` says what each is to be (``content_hash``; None: something else than it is): folded items that are to
    change are brought back first, with all that their Macro-Events stand for.
    """
    latest = await transaction.items(list(hashes))
    folded = await _folded(transaction, [key for key in hashes if not _is_live(latest.get(key))], latest)
    changing = [key for key, item in folded.items() if item.content_hash != hashes[key]]
    if not changing:
        return {**latest, **folded}, Unfolded()
    done = await Unfolder(transaction, registry, now).unfold_items(changing)
    latest = await transaction.items(list(hashes))
    still = await _folded(transaction, [key for key in folded if key not in changing], latest)
    return {**latest, **still}, done


async def _folded(transaction: GraphTransaction, ids: Sequence[str], latest: Mapping[str, Node]) -> dict[str, Node]:
    """Return what the folded ones of these items were, unless a later version is known."""
    passages = await transaction.folded(ids) if ids else {}
    found: dict[str, Node] = {}
    for key, passage in passages.items():
        (entry,) = entries_of([passage]).values()
        if key not in latest or latest[key].version < entry.item.version:
            found[key] = entry.item
    return found


def _is_live(node: Node | None) -> bool:
    return node is not None and node.retired_at is None
