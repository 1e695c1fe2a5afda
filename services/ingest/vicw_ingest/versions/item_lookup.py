"""Find items by uid: an uid names the item of any of its versions, consolidated or not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from vicw_core.consolidation.ledger import entries_of
from vicw_shared.model import Node
from vicw_shared.uids import chunk_uid, is_uid

type ReadNodes = Callable[[Sequence[str]], Awaitable[dict[str, Node]]]
"""Returns the tenant's nodes among these uids."""


async def items_by_uid(read: ReadNodes, uids: Sequence[str], context: str | None = None) -> dict[str, Node]:
    """Return the callers' items among ``uids``, those of one ``context`` only if it is given.

    A text that is no uid names nothing. A consolidated item comes from its ledger. Macro-Events are no callers' items.
    """
    uids = [uid for uid in uids if is_uid(uid)]
    nodes = await read([*uids, *(chunk_uid(uid, 0) for uid in uids)]) if uids else {}
    items = {uid: node for uid, node in nodes.items() if node.content_hash is not None}
    items = {entry.item.uid: entry.item for entry in entries_of(list(nodes.values())).values()} | items
    return {
        uid: items[uid]
        for uid in uids
        if uid in items and not items[uid].is_macro and context in {None, items[uid].context}
    }
