"""Deduplicate stage: finds stored texts that a request's items repeat, before the items are processed.

Nothing is scanned: texts are looked up by their keys (``model.text_keys``). Items of one request are not duplicates of
each other, because none of them was stored when they were written.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_ingest.dedup.quotations import block_end
from vicw_ingest.dedup.stored_texts import LookupKeys, StoredTexts
from vicw_shared.model import Node
from vicw_shared.model.core5 import speaker_subtype
from vicw_shared.model.text_keys import plain
from vicw_shared.ports import GraphStore
from vicw_shared.text import fold_case, trimmed
from vicw_shared.wire.ingest import IngestRequest, Item, RepeatedItem, Repetition

_GAP = re.compile(r"\n\s*\n")
_FENCE = re.compile(r"</?[\w-]{0,30}(?:memor|recall)[\w-]{0,30}(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)
_MARKS = re.compile(r"[\s\-=_*~#·•|+<>/\[\](){}`\"'—–…:.,;]*")


@dataclass(frozen=True, slots=True)
class DuplicateSource:
    """A repeated stored item, and how it is repeated. For a copy: the passages (uids, in order) with its text."""

    item: Node
    how: Repetition
    passages: tuple[str, ...] = ()

    @property
    def to_wire(self) -> RepeatedItem:
        """Return the source in wire form."""
        return RepeatedItem(uid=self.item.uid, id=self.item.source_id, context=self.item.context, how=self.how)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The sources that an item repeats, most important first.

    ``rest`` is its text without the repeated blocks of an answer; None: the text stays whole. ``nothing_new``: the
    whole text repeats a stored item or an answer.
    """

    sources: tuple[DuplicateSource, ...]
    rest: str | None = None
    nothing_new: bool = False

    def only(self, live: Collection[str]) -> Duplicate | None:
        """Return the duplicate with only the ``live`` sources (uids), or None if it is none without the others."""
        sources = tuple(source for source in self.sources if source.item.uid in live)
        if not sources:
            return None if self.rest is None else replace(self, sources=())
        return replace(self, sources=sources)

    def with_restored(self, restored: Mapping[str, Node]) -> Duplicate:
        """Return the duplicate with restored items, by their ids, in place of their Macro-Events."""
        return replace(self, sources=tuple(_with_restored(source, restored) for source in self.sources))


def _with_restored(source: DuplicateSource, restored: Mapping[str, Node]) -> DuplicateSource:
    item = restored.get(source.item.source_id or "") if source.item.is_macro else None
    return source if item is None else replace(source, item=item)


type Duplicates = Mapping[int, Duplicate]
"""Duplicates by the index of their item in the request."""


def remove_parts(text: str, taken: Iterable[tuple[int, int]]) -> str:
    """Return a text without the spans in ``taken``."""
    parts, at = [], 0
    for start, end in sorted(taken):
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    return trimmed(_GAP.sub("\n\n", "".join([*parts, text[at:]]))) if parts else text


def is_blank(rest: str) -> bool:
    """Return whether a remainder consists only of punctuation and tags around recalled text (``<memory>``)."""
    return _MARKS.fullmatch(_FENCE.sub("", rest)) is not None


_RECURRENCE_FACTOR = 4
"""Factor on the minimum length for an item with a time of its own, or by a person: such texts may recur by chance.

A text that the same person repeats at another time is never a duplicate, whatever its length.
"""


async def find_duplicates(
    request: IngestRequest, tenant: str, graph: GraphStore, min_chars: int, now: datetime
) -> Duplicates:
    """Return the duplicates among a request's items, by index. ``min_chars``: VICW_INGEST_DUPLICATE_CHARS; 0: none.

    Pages of knowledge folders are never duplicates: they are files, whatever they contain.
    """
    items = {n: item for n, item in enumerate(request.items) if item.page is None}
    if min_chars == 0 or not items:
        return {}
    keys = await asyncio.to_thread(lambda: {n: LookupKeys.of(item, min_chars) for n, item in items.items()})
    stored_texts = await StoredTexts.look_up(graph, tenant, request.context, list(keys.values()), now)
    if not stored_texts.nodes_by_key:
        return {}
    duplicates = {n: _duplicate(item_keys, stored_texts, min_chars) for n, item_keys in keys.items()}
    return {n: duplicate for n, duplicate in duplicates.items() if duplicate is not None}


def without_duplicates(request: IngestRequest, duplicates: Duplicates) -> IngestRequest:
    """Return the request without repeated texts: their facts are already extracted from their sources."""
    texts = {index: duplicate.rest for index, duplicate in duplicates.items() if duplicate.rest is not None}
    if not texts:
        return request
    items = (
        item.model_copy(update={"text": texts[index]}) if index in texts else item
        for index, item in enumerate(request.items)
    )
    return request.model_copy(update={"items": tuple(items)})


def _duplicate(keys: LookupKeys, stored_texts: StoredTexts, min_chars: int) -> Duplicate | None:
    item = keys.item
    has_more = item.extraction is not None or bool(item.trigger_phrases)
    copy = _copy_source(keys, stored_texts, min_chars)
    if copy is not None and not has_more and _has_same_origin(item, copy.item):
        return Duplicate((copy,), nothing_new=True)
    quoted = list(_quoted_spans(keys, stored_texts, min_chars))
    if not quoted:
        return None
    sources = tuple(_distinct(DuplicateSource(source, Repetition.ANSWER) for _, source in quoted))
    rest = None if has_more else remove_parts(item.text, [span for span, _ in quoted])
    nothing_new = rest is not None and is_blank(rest)
    return Duplicate(sources, rest=None if nothing_new else rest, nothing_new=nothing_new)


def _copy_source(keys: LookupKeys, stored_texts: StoredTexts, min_chars: int) -> DuplicateSource | None:
    length = len(plain(keys.item.text))
    for source, passages in stored_texts.items_with(keys.whole, keys.item.text):
        if source.context != stored_texts.context:
            continue
        if length >= _min_length(keys.item, source, min_chars) and stored_texts.may_link(keys.item, source):
            return DuplicateSource(source, Repetition.COPY, passages)
    return None


def _min_length(item: Item, source: Node, min_chars: int) -> float:
    """Return the minimum length in characters at which an item equal to ``source`` counts as its duplicate."""
    speaker = fold_case(item.speaker) if item.speaker is not None else None
    same_speaker = speaker == (fold_case(source.speaker) if source.speaker is not None else None)
    if same_speaker and item.timestamp is not None and item.timestamp == source.timestamp:
        return min_chars  # the same event
    if item.speaker is None:
        return min_chars if item.timestamp is None else min_chars * _RECURRENCE_FACTOR
    if speaker_subtype(item.speaker) == "agent":
        return min_chars
    return math.inf if same_speaker else min_chars * _RECURRENCE_FACTOR


def _has_same_origin(item: Item, source: Node) -> bool:
    """Return whether an item has no title of its own, and is not a document with another source."""
    if item.name is not None and fold_case(item.name) not in {fold_case(source.title or ""), fold_case(source.name)}:
        return False
    return item.speaker is not None or item.source in {None, source.source}


def _quoted_spans(
    keys: LookupKeys, stored_texts: StoredTexts, min_chars: int
) -> Iterator[tuple[tuple[int, int], Node]]:
    """Yield the spans where an item repeats an answer's blocks whose text is stored, each with its source."""
    for block in keys.blocks:
        for span in reversed(block.texts):
            if not block.numbered and span.end - span.start < min_chars:
                break
            source = next(stored_texts.linkable(span, keys.item), None)
            if source is not None:
                yield (block.start, block_end(keys.item.text, span.end)), source
                break


def _distinct(sources: Iterable[DuplicateSource]) -> Iterator[DuplicateSource]:
    """Yield each stored item once."""
    seen: set[str] = set()
    for source in sources:
        if source.item.uid not in seen:
            seen.add(source.item.uid)
            yield source
