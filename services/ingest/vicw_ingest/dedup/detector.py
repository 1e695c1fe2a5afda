"""Finds what the items of a request repeat of what is stored, before anything is made of them.

Nothing is scanned: texts are looked up by the keys of what they say (``model.wording``). What stands in one request is
no echo of itself: nothing of it was in memory when it was said.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator
from datetime import datetime

from vicw_ingest.dedup.lookup_keys import Parts
from vicw_ingest.dedup.model import Duplicate, DuplicateSource, Echoes
from vicw_ingest.dedup.quotations import after
from vicw_ingest.dedup.remainder import says_nothing, without
from vicw_ingest.dedup.stored_texts import Memories
from vicw_ingest.plan.drafts import speaker_subtype
from vicw_shared.model import Node
from vicw_shared.model.text_keys import plain
from vicw_shared.ports import GraphStore
from vicw_shared.text import fold
from vicw_shared.wire.ingest import IngestRequest, Item, Repetition

_OFTEN_SAID = 4
"""What happens at a time of its own, or what a person says, may be the same again: so many times the length tells.

Whoever says the same again himself says it again, however long it is.
"""


async def find_echoes(request: IngestRequest, tenant: str, graph: GraphStore, least: int, now: datetime) -> Echoes:
    """Return the echoes among a request's items, by index. ``least`` is VICW_INGEST_ECHO_CHARS; 0 finds none.

    Pages of knowledge folders are files, whatever is in them: they are none.
    """
    items = {n: item for n, item in enumerate(request.items) if item.page is None}
    if least == 0 or not items:
        return {}
    parts = await asyncio.to_thread(lambda: {n: Parts.of(item, least) for n, item in items.items()})
    memories = await Memories.look_up(graph, tenant, request.context, list(parts.values()), now)
    if not memories.found:
        return {}
    echoes = {n: _echo(part, memories, least) for n, part in parts.items()}
    return {n: echo for n, echo in echoes.items() if echo is not None}


def _echo(parts: Parts, memories: Memories, least: int) -> Duplicate | None:
    item = parts.item
    tells_more = item.extraction is not None or bool(item.trigger_phrases)
    copied = _copied(parts, memories, least)
    if copied is not None and not tells_more and _is_from_nowhere_else(item, copied.item):
        return Duplicate((copied,), nothing_new=True)
    answered = list(_answered(parts, memories, least))
    if not answered:
        return None
    sources = tuple(_once(DuplicateSource(source, Repetition.ANSWER) for _, source in answered))
    rest = None if tells_more else without(item.text, [span for span, _ in answered])
    nothing_new = rest is not None and says_nothing(rest)
    return Duplicate(sources, rest=None if nothing_new else rest, nothing_new=nothing_new)


def _copied(parts: Parts, memories: Memories, least: int) -> DuplicateSource | None:
    length = len(plain(parts.item.text))
    for source, passages in memories.of(parts.whole):
        if source.context != memories.context:
            continue
        if length >= _enough(parts.item, source, least) and memories.may_link(parts.item, source):
            return DuplicateSource(source, Repetition.COPY, passages)
    return None


def _enough(item: Item, source: Node, least: int) -> float:
    """Return how many characters tell that an item came out of memory, if it says what ``source`` says."""
    said_by = fold(item.speaker) if item.speaker is not None else None
    by_the_same = said_by == (fold(source.speaker) if source.speaker is not None else None)
    if by_the_same and item.timestamp is not None and item.timestamp == source.timestamp:
        return least  # the very same event
    if item.speaker is None:
        return least if item.timestamp is None else least * _OFTEN_SAID
    if speaker_subtype(item.speaker) == "agent":
        return least
    return math.inf if by_the_same else least * _OFTEN_SAID


def _is_from_nowhere_else(item: Item, source: Node) -> bool:
    """Tell whether an item has no title of its own, and is no document that was found in another place."""
    if item.name is not None and fold(item.name) not in {fold(source.title or ""), fold(source.name)}:
        return False
    return item.speaker is not None or item.source in {None, source.source}


def _answered(parts: Parts, memories: Memories, least: int) -> Iterator[tuple[tuple[int, int], Node]]:
    """Yield where an item gives an answer's blocks back whose text is stored, each with its source."""
    for block in parts.blocks:
        for place in reversed(block.texts):
            if not block.numbered and place.end - place.start < least:
                break
            source = next(memories.standing(place, parts.item), None)
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
