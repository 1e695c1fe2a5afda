"""Finds what the items of a request repeat of what is stored, before anything is made of them.

Nothing is scanned: texts are looked up by the keys of what they say (``model.wording``). What stands in one request is
no echo of itself: nothing of it was in memory when it was said.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vicw_ingest.echoes import quoting
from vicw_ingest.echoes.echo import Echo, Echoes, Source
from vicw_ingest.echoes.quoting import Block, Place
from vicw_ingest.planning.drafts import speaker_subtype
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.model.wording import keys_of, plain
from vicw_shared.ports import Direction, GraphStore
from vicw_shared.text import fold, visible
from vicw_shared.wire.ingest import IngestRequest, Item, Repetition

_GAP = re.compile(r"\n\s*\n")
_SAME = 20
"""Stored texts of one key that are looked at."""
_ABOUT = 1000
_OFTEN_SAID = 4
"""What happens at a time of its own, or what a person says, may be the same again: so many times the length tells.

Whoever says the same again himself says it again, however long it is.
"""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What of an item is looked up."""

    item: Item
    whole: Place
    blocks: Sequence[Block]
    quotes: Sequence[Place]

    @property
    def keys(self) -> Iterator[str]:
        yield from self.whole.keys
        for place in (*(text for block in self.blocks for text in block.texts), *self.quotes):
            yield from place.keys


async def find_echoes(request: IngestRequest, tenant: str, graph: GraphStore, least: int, now: datetime) -> Echoes:
    """Return the echoes among a request's items, by index. ``least`` is VICW_INGEST_ECHO_CHARS; 0 finds none.

    Pages of knowledge folders are files, whatever is in them: they are none.
    """
    items = {n: item for n, item in enumerate(request.items) if item.page is None}
    if least == 0 or not items:
        return {}
    parts = await asyncio.to_thread(lambda: {n: _take_apart(item, least) for n, item in items.items()})
    memories = await _Memories.look_up(graph, tenant, request.context, list(parts.values()), now)
    if not memories.found:
        return {}
    echoes = {n: _echo(part, memories, least) for n, part in parts.items()}
    return {n: echo for n, echo in echoes.items() if echo is not None}


def _take_apart(item: Item, least: int) -> _Parts:
    text = item.text
    whole = Place(0, len(text), keys_of(text))
    return _Parts(item, whole, quoting.blocks(text), quoting.quotes(text, least))


@dataclass(frozen=True, slots=True)
class _Memories:
    """Stored texts by their keys, the items that they are of, and whom private items are about."""

    context: str
    now: datetime
    found: Mapping[str, Sequence[Node]]
    owners: Mapping[str, Node]
    about: Mapping[str, frozenset[str]]
    passages: Mapping[str, tuple[str, ...]]

    @classmethod
    async def look_up(
        cls, graph: GraphStore, tenant: str, context: str, parts: Sequence[_Parts], now: datetime
    ) -> _Memories:
        """Look up all at once: in the request's context, and what answers may have brought from another."""
        found = await graph.worded(
            tenant, list({key for part in parts for key in part.keys}), contexts=[context], limit=_SAME
        )
        brought = {key for part in parts for block in part.blocks for text in block.texts for key in text.keys}
        if brought := brought - found.keys():
            found |= await graph.worded(tenant, sorted(brought), limit=_SAME)
        nodes = {node.uid: node for named in found.values() for node in named}
        chunks = [uid for uid, node in nodes.items() if node.label is Label.CHUNK]
        refs = await graph.owners(tenant, chunks) if chunks else {}
        items = await graph.nodes(tenant, list({ref.uid for ref in refs.values()}))
        owners = {chunk: items[ref.uid] for chunk, ref in refs.items() if ref.uid in items}
        owners |= {uid: node for uid, node in nodes.items() if node.label is not Label.CHUNK}
        private = [item.uid for item in owners.values() if item.sensitivity is not Sensitivity.PUBLIC]
        longer = [uid for uid, node in nodes.items() if node.label is not Label.CHUNK]
        return cls(
            context, now, found, owners, await _subjects(graph, tenant, private), await _passages(graph, tenant, longer)
        )

    def of(self, place: Place) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """Yield the live items that say the same as a place, the oldest first, each with the passages that do."""
        for key in place.keys:
            for node in self.found.get(key, ()):
                item = self.owners.get(node.uid)
                if item is None or item.retired_at is not None:
                    continue
                if item.expires_at is None or item.expires_at > self.now:
                    yield item, self.passages.get(node.uid, (node.uid,))

    def may_link(self, item: Item, source: Node) -> bool:
        """Tell whether whoever may see an item may see the stored one: a link then hides and betrays nothing.

        An earlier version of the very item is no source of it.
        """
        if source.context != self.context:
            return source.sensitivity is Sensitivity.PUBLIC and source.portable
        if item.id is not None and source.source_id == item.id:
            return False
        if item.portable and not source.portable:
            return False
        if source.sensitivity is Sensitivity.PUBLIC:
            return True
        about = self.about.get(source.uid, frozenset())
        return source.sensitivity is item.sensitivity and about.issuperset(map(fold, item.about))


async def _subjects(graph: GraphStore, tenant: str, items: Sequence[str]) -> dict[str, frozenset[str]]:
    if not items:
        return {}
    about: dict[str, set[str]] = {}
    for edge in await graph.expand(tenant, list(dict.fromkeys(items)), [("ABOUT", Direction.OUT)], _ABOUT):
        about.setdefault(edge.origin, set()).update((edge.node.uid, *map(fold, (edge.node.name, *edge.node.aliases))))
    return {uid: frozenset(names) for uid, names in about.items()}


async def _passages(graph: GraphStore, tenant: str, items: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the passages of items that have several, in order."""
    if not items:
        return {}
    found: dict[str, list[Node]] = {}
    for proof in await graph.expand(tenant, items, [("EVIDENCED_BY", Direction.OUT)], _ABOUT):
        found.setdefault(proof.origin, []).append(proof.node)
    return {
        uid: tuple(chunk.uid for chunk in sorted(chunks, key=lambda chunk: chunk.flow_step or 0))
        for uid, chunks in found.items()
    }


def _echo(parts: _Parts, memories: _Memories, least: int) -> Echo | None:
    item = parts.item
    tells_more = item.extraction is not None or bool(item.trigger_phrases)
    copied = _copied(parts, memories, least)
    if copied is not None and not tells_more and _is_from_nowhere_else(item, copied.item):
        return Echo((copied,), nothing_new=True)
    answered, taken = _answered(parts, memories, least)
    rest = _without(item.text, taken)
    if answered and not visible(rest) and not tells_more:
        return Echo(tuple(_once(answered)), nothing_new=True)
    trimmed = bool(answered) and visible(rest) and not tells_more
    quoted = [Source(copied.item, Repetition.QUOTE)] if copied is not None else _quoted(parts, memories, taken)
    sources = tuple(_once([*answered, *quoted]))
    return Echo(sources, rest=rest.strip() if trimmed else None) if sources else None


def _copied(parts: _Parts, memories: _Memories, least: int) -> Source | None:
    length = len(plain(parts.item.text))
    for source, passages in memories.of(parts.whole):
        if source.context != memories.context:
            continue
        if length >= _enough(parts.item, source, least) and memories.may_link(parts.item, source):
            return Source(source, Repetition.COPY, passages)
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


def _answered(parts: _Parts, memories: _Memories, least: int) -> tuple[list[Source], list[tuple[int, int]]]:
    """Return what the blocks of an answer quote, and where each block stands, with what is said around it."""
    found: list[Source] = []
    taken: list[tuple[int, int]] = []
    for block in parts.blocks:
        for place in reversed(block.texts):
            if not block.numbered and place.end - place.start < least:
                break
            source = next(_standing(place, parts.item, memories), None)
            if source is not None:
                found.append(Source(source, Repetition.ANSWER))
                taken.append((block.start, quoting.after(parts.item.text, place.end)))
                break
    return found, taken


def _quoted(parts: _Parts, memories: _Memories, taken: list[tuple[int, int]]) -> list[Source]:
    """Return what else is quoted; of quotations one inside the other the longest counts."""
    found, covered = [], list(taken)
    for place in parts.quotes:
        if any(start < place.end and place.start < end for start, end in covered):
            continue
        source = next(_standing(place, parts.item, memories), None)
        if source is not None and source.context == memories.context:
            found.append((place.start, Source(source, Repetition.QUOTE)))
            covered.append((place.start, place.end))
    return [source for _, source in sorted(found, key=lambda entry: entry[0])]


def _standing(place: Place, item: Item, memories: _Memories) -> Iterator[Node]:
    for source, _ in memories.of(place):
        if memories.may_link(item, source):
            yield source


def _without(text: str, taken: Iterable[tuple[int, int]]) -> str:
    left, at = [], 0
    for start, end in sorted(taken):
        left.append(text[at : max(at, start)])
        at = max(at, end)
    return _GAP.sub("\n\n", "".join([*left, text[at:]])) if left else text


def _once(sources: Iterable[Source]) -> Iterator[Source]:
    """Yield each stored item once."""
    seen: set[str] = set()
    for source in sources:
        if source.item.uid not in seen:
            seen.add(source.item.uid)
            yield source
