"""A context in short, for the beginning of a session."""

from __future__ import annotations

from vicw_runtime.mcp.answers import fence, unfenced
from vicw_runtime.mcp.port import MemoryReader
from vicw_runtime.mcp.scope import named
from vicw_shared.clock import format_minute
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.text import counted, one_fact
from vicw_shared.wire.items import ContextsQuery, ItemsQuery, ListedItem

_EACH = 5
_CHARS = 240


async def brief_text(reader: MemoryReader, context: str) -> str:
    """Return how much a context holds, its most important items and its latest ones, quoted; each item once."""
    page = await reader.contexts(ContextsQuery(prefix=context, limit=1))
    if not page.contexts or page.contexts[0].context != context:
        return f"{named(context)} Nothing is stored yet."
    whole = page.contexts[0]
    orders = (ItemOrder.IMPORTANCE, ItemOrder.TOLD)
    items = [
        item
        for order in orders
        for item in (await reader.items(ItemsQuery(context=context, order=order, limit=_EACH))).items
        if order is ItemOrder.TOLD or item.importance
    ]
    lines = dict.fromkeys(map(_line, items))
    head = f"{counted(whole.items, 'memory', 'memories')}, the last of {format_minute(whole.last)}."
    return f"{named(context)} {head}\n{fence(context, unfenced(chr(10).join(lines)))}"


def _line(item: ListedItem) -> str:
    text = " ".join((item.text or item.name).split())
    facts = (item.speaker or item.source or "", format_minute(item.told_at))
    head = " · ".join(one_fact(fact) for fact in (item.id or item.uid, *facts) if fact)
    return f"[{head}] > {text if len(text) <= _CHARS else text[: _CHARS - 1] + '…'}"
