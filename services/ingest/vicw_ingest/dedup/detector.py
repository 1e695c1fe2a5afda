"""Duplicate detector: finds stored texts that a request's items repeat, before the items are processed.

Nothing is scanned: texts are looked up by their keys (``model.text_keys``). Items of one request are not duplicates of
each other, because none of them was stored when they were written.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator
from datetime import datetime

from vicw_ingest.dedup.lookup_keys import LookupKeys
from vicw_ingest.dedup.model import Duplicate, Duplicates, DuplicateSource
from vicw_ingest.dedup.quotations import after
from vicw_ingest.dedup.remainder import remove_parts, says_nothing
from vicw_ingest.dedup.stored_texts import StoredTexts
from vicw_ingest.plan.drafts import speaker_subtype
from vicw_shared.model import Node
from vicw_shared.model.text_keys import plain
from vicw_shared.ports import GraphStore
from vicw_shared.text import fold_case
from vicw_shared.wire.ingest import IngestRequest, Item, Repetition

_OFTEN_SAID = 4
"""Factor on the minimum length for an item with a time of its own, or by a person: such texts may recur by chance.

A text that the same person repeats at another time is never a duplicate, whatever its length.
"""


async def find_duplicates(
    request: IngestRequest, tenant: str, graph: GraphStore, least: int, now: datetime
) -> Duplicates:
    """Return the duplicates among a request's items, by index. ``least`` is VICW_INGEST_DUPLICATE_CHARS; 0 finds none.

    Pages of knowledge folders are never duplicates: they are files, whatever they contain.
    """
    items = {n: item for n, item in enumerate(request.items) if item.page is None}
    if least == 0 or not items:
        return {}
    parts = await asyncio.to_thread(lambda: {n: LookupKeys.of(item, least) for n, item in items.items()})
    memories = await StoredTexts.look_up(graph, tenant, request.context, list(parts.values()), now)
    if not memories.found:
        return {}
    echoes = {n: _duplicate(part, memories, least) for n, part in parts.items()}
    return {n: echo for n, echo in echoes.items() if echo is not None}


def _duplicate(parts: LookupKeys, memories: StoredTexts, least: int) -> Duplicate | None:
    item = parts.item
    tells_more = item.extraction is not None or bool(item.trigger_phrases)
    copied = _copied(parts, memories, least)
    if copied is not None and not tells_more and _is_from_nowhere_else(item, copied.item):
        return Duplicate((copied,), nothing_new=True)
    answered = list(_answered(parts, memories, least))
    if not answered:
        return None
    sources = tuple(_once(DuplicateSource(source, Repetition.ANSWER) for _, source in answered))
    rest = None if tells_more else remove_parts(item.text, [span for span, _ in answered])
    nothing_new = rest is not None and says_nothing(rest)
    return Duplicate(sources, rest=None if nothing_new else rest, nothing_new=nothing_new)


def _copied(parts: LookupKeys, memories: StoredTexts, least: int) -> DuplicateSource | None:
    length = len(plain(parts.item.text))
    for source, passages in memories.of(parts.whole):
        if source.context != memories.context:
            continue
        if length >= _enough(parts.item, source, least) and memories.may_link(parts.item, source):
            return DuplicateSource(source, Repetition.COPY, passages)
    return None


def _enough(item: Item, source: Node, least: int) -> float:
    """Return the minimum length in characters at which an item equal to ``source`` counts as its duplicate."""
    said_by = fold_case(item.speaker) if item.speaker is not None else None
    by_the_same = said_by == (fold_case(source.speaker) if source.speaker is not None else None)
    if by_the_same and item.timestamp is not None and item.timestamp == source.timestamp:
        return least  # the same event
    if item.speaker is None:
        return least if item.timestamp is None else least * _OFTEN_SAID
    if speaker_subtype(item.speaker) == "agent":
        return least
    return math.inf if by_the_same else least * _OFTEN_SAID


def _is_from_nowhere_else(item: Item, source: Node) -> bool:
    """Return whether an item has no title of its own, and is not a document with another source."""
    if item.name is not None and fold_case(item.name) not in {fold_case(source.title or ""), fold_case(source.name)}:
        return False
    return item.speaker is not None or item.source in {None, source.source}


def _answered(parts: LookupKeys, memories: StoredTexts, least: int) -> Iterator[tuple[tuple[int, int], Node]]:
    """Yield the spans where an item repeats an answer's blocks whose text is stored, each with its source."""
    for block in parts.blocks:
        for place in reversed(block.texts):
            if not block.numbered and place.end - place.start < least:
                break
            source = next(memories.linkable(place, parts.item), None)
            if source is not None:
                yield (block.start, after(parts.item.text, place.end)), source
                break


def _once(sources: Iterable[DuplicateSource]) -> Iterator[DuplicateSource]:
    """Yield each stored item once."""
    seen: set[str] = set()
    for source in sources:
        if source.item.uid not in seen:
            seen.add(source.item.uid)
            yield source
