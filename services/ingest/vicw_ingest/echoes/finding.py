"""Finds what the items of a request repeat of what is stored, before anything is made of them.

Nothing is scanned: texts are looked up by the keys of what they say (``model.wording``). What stands in one request is
no echo of itself: nothing of it was in memory when it was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import datetime

from vicw_ingest.echoes.answering import Span, answered, enough
from vicw_ingest.echoes.echo import Echo, Echoes, Source
from vicw_ingest.echoes.memories import Memories
from vicw_ingest.echoes.parts import Parts
from vicw_ingest.echoes.remaining import marked, unmarked, without
from vicw_shared.model import Node
from vicw_shared.model.wording import plain
from vicw_shared.ports import GraphStore
from vicw_shared.text import fold
from vicw_shared.wire.ingest import IngestRequest, Item, Repetition


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


def _echo(parts: Parts, memories: Memories, least: int) -> Echo | None:
    item = parts.item
    tells_more = item.extraction is not None or bool(item.trigger_phrases)
    copied = _copied(parts, memories, least)
    if copied is not None and not tells_more and _is_from_nowhere_else(item, copied.item):
        return Echo((copied,), nothing_new=True)
    found = answered(parts, memories, least)
    if found.sources and found.says_nothing_else and not tells_more:
        return Echo(tuple(_once(found.sources)), nothing_new=True)
    taken = found.taken
    quotes = [] if copied is not None else _quoted(parts, memories, [*taken, *(span for span, _ in found.quotes)])
    quoted = sorted([*found.quotes, *quotes], key=lambda quote: quote[0]) if copied is None else []
    told = [source for _, source in quoted] if copied is None else [Source(copied.item, Repetition.QUOTE)]
    if not (sources := tuple(_once([*found.sources, *told]))):
        return None
    rest = without(item.text, taken) if found.sources and not tells_more else None
    read = unmarked(without(marked(item.text, [span for span, _ in quoted]), taken if rest is not None else []))
    return Echo(sources, rest=rest, read=read if rest is not None or quoted else None)


def _copied(parts: Parts, memories: Memories, least: int) -> Source | None:
    length = len(plain(parts.item.text))
    for source, passages in memories.of(parts.whole):
        if source.context != memories.context:
            continue
        if length >= enough(parts.item, source, least) and memories.may_link(parts.item, source):
            return Source(source, Repetition.COPY, passages)
    return None


def _is_from_nowhere_else(item: Item, source: Node) -> bool:
    """Tell whether an item has no title of its own, and is no document that was found in another place."""
    if item.name is not None and fold(item.name) not in {fold(source.title or ""), fold(source.name)}:
        return False
    return item.speaker is not None or item.source in {None, source.source}


def _quoted(parts: Parts, memories: Memories, taken: list[Span]) -> list[tuple[Span, Source]]:
    """Return what else is quoted, and where; of quotations one inside the other the longest counts."""
    found, covered = [], list(taken)
    for place in parts.quotes:
        if any(start < place.end and place.start < end for start, end in covered):
            continue
        source = next(memories.standing(place, parts.item), None)
        if source is not None and source.context == memories.context:
            found.append(((place.start, place.end), Source(source, Repetition.QUOTE)))
            covered.append((place.start, place.end))
    return found


def _once(sources: Iterable[Source]) -> Iterator[Source]:
    """Yield each stored item once."""
    seen: set[str] = set()
    for source in sources:
        if source.item.uid not in seen:
            seen.add(source.item.uid)
            yield source
