"""What of an item is an answer that it gives back: in our own form, or in that of its application.

What stands in our form is an answer by its heads. What else is a stored text is one if something tells so: a head that
says nothing but what is known of it, a line that announces memories, several stored texts in a row. What tells nothing
of the kind is a quotation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vicw_ingest.echoes import quoting
from vicw_ingest.echoes.echo import Source
from vicw_ingest.echoes.heads import fits, is_bare, is_frame
from vicw_ingest.echoes.memories import Memories
from vicw_ingest.echoes.parts import Parts
from vicw_ingest.echoes.pasting import Run, is_cut
from vicw_ingest.echoes.remaining import without
from vicw_ingest.planning.drafts import speaker_subtype
from vicw_shared.model import Node
from vicw_shared.text import fold
from vicw_shared.wire.ingest import Item, Repetition

type Span = tuple[int, int]

_OFTEN_SAID = 4
"""What happens at a time of its own, or what a person says, may be the same again: so many times the length tells.

Whoever says the same again himself says it again, however long it is.
"""


@dataclass(frozen=True, slots=True)
class Answered:
    """The results that an item gives back, where they stand with what is said around them, and what it quotes."""

    sources: tuple[Source, ...]
    taken: tuple[Span, ...]
    quotes: tuple[tuple[Span, Source], ...]
    says_nothing_else: bool


@dataclass(frozen=True, slots=True)
class _Hit:
    """A stored text in an item, or a block in our own form (which has no ``run``).

    ``told``: what stands around it says that it is a result; None: it says more than that.
    """

    span: Span
    source: Node
    told: bool | None = True
    run: Run | None = None

    @property
    def chars(self) -> float:
        return self.run.chars if self.run is not None else math.inf

    @property
    def quote(self) -> tuple[Span, Source]:
        span = (self.run.start, self.run.end) if self.run is not None else self.span
        return span, Source(self.source, Repetition.QUOTE)


def enough(item: Item, source: Node, least: int) -> float:
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


def answered(parts: Parts, memories: Memories, least: int) -> Answered:
    """Return what of an item is an answer, and what of the rest is a quotation of the texts that were looked up."""
    item, text = parts.item, parts.item.text
    blocks = _blocks(parts, memories, least)
    hits = _hits(parts, memories, blocks)
    if item.speaker is None and (item.name is not None or item.source is not None):
        hits = [replace(hit, told=None) for hit in hits]  # a document is kept as it is
    groups = _groups(text, sorted([*blocks, *hits], key=lambda hit: hit.span), least)
    told = [group for group in groups if _is_told(group, text)]
    # Without any sign it is one only if it is all that the item says: a text may have paragraphs of another.
    bare = [group for group in groups if group not in told and _is_no_coincidence(group, item, least)]
    if bare and _nothing_but_frames(text, [*told, *bare]):
        told += bare
    results = sorted((hit for group in told for hit in group), key=lambda hit: hit.span)
    quotes = [hit.quote for group in groups if group not in told for hit in group if hit.chars >= least]
    if len(text) > quoting.QUOTED_IN_CHARS:
        quotes = []
    return Answered(
        tuple(Source(hit.source, Repetition.ANSWER) for hit in results),
        tuple(_whole(group) for group in told),
        tuple(quote for quote in quotes if quote[1].item.context == memories.context),
        _nothing_but_frames(text, told),
    )


def _nothing_but_frames(text: str, groups: Iterable[Sequence[_Hit]]) -> bool:
    rest = without(text, [_whole(group) for group in groups])
    return all(map(is_frame, rest.split("\n")))


def _whole(group: Sequence[_Hit]) -> Span:
    """Return where a group stands, with all between its members."""
    return group[0].span[0], max(hit.span[1] for hit in group)


def _blocks(parts: Parts, memories: Memories, least: int) -> list[_Hit]:
    """Return the blocks in our own form whose text is stored."""
    found = []
    for block in parts.blocks:
        for place in reversed(block.texts):
            if not block.numbered and place.end - place.start < least:
                break
            source = next(memories.standing(place, parts.item), None)
            if source is not None:
                found.append(_Hit((block.start, quoting.after(parts.item.text, place.end)), source))
                break
    return found


def _hits(parts: Parts, memories: Memories, blocks: Iterable[_Hit]) -> list[_Hit]:
    """Return what else is stored; of texts one inside the other the longest counts."""
    found: list[_Hit] = []
    covered = [hit.span for hit in blocks]
    for run in parts.runs:
        if any(start < run.end and run.start < end for start, end in covered):
            continue
        hits = [_hit(run, source, parts.item.text) for source in memories.standing(run, parts.item)]
        hits = [hit for hit in hits if hit.told or hit.source.context == memories.context]
        best = max(hits, key=lambda hit: (hit.told is not None, bool(hit.told)), default=None)
        if best is None or (not best.told and run.keys[0] == parts.whole.keys[0] and not is_cut(parts.item.text)):
            continue  # all of an item is no part of it
        found.append(best)
        covered.append((run.start, run.end))
    # What an answer says around a result may be stored, too.
    return [hit for hit in found if not any(one.span[0] < hit.span[0] < one.span[1] for one in found if one.told)]


def _hit(run: Run, source: Node, text: str) -> _Hit:
    head, tail = text[run.opens : run.start], text[run.end : run.closes]
    if not (fits(head, source) and fits(tail, source)):
        return _Hit((run.start, run.end), source, None, run)
    above = text[text.rfind("\n", 0, max(0, run.opens - 1)) + 1 : max(0, run.opens - 1)]
    start = run.opens
    if is_above := not is_bare(above) and fits(above, source):
        start -= len(above) + 1
    end = quoting.after_pasted(text, run.closes)
    told = is_above or end > run.closes or not (is_bare(head) and is_bare(tail))
    return _Hit((start, end), source, told, run)


def _groups(text: str, hits: Sequence[_Hit], least: int) -> list[list[_Hit]]:
    """Return hits with nothing but frames between them, in order. Short ones are left out if all of a group are."""
    groups: list[list[_Hit]] = []
    for hit in hits:
        last = groups[-1][-1] if groups else None
        if last is not None and None not in (hit.told, last.told):
            between = text[last.span[1] : hit.span[0]] if last.span[1] < hit.span[0] else ""
            if all(map(is_frame, between.split("\n"))):
                groups[-1].append(hit)
                continue
        groups.append([hit])
    return [group for group in groups if any(hit.chars >= least for hit in group)]


def _is_told(group: Sequence[_Hit], text: str) -> bool:
    """Tell whether something around hits says that they are results: a head of one, or a line above them all."""
    if group[0].told is None:
        return False
    above = text[: group[0].span[0]].rstrip().rsplit("\n", 1)[-1]
    return any(hit.told for hit in group) or (not is_bare(above) and is_frame(above))


def _is_no_coincidence(group: Sequence[_Hit], item: Item, least: int) -> bool:
    """Tell whether hits that nothing says are results are some: several in a row, or one that was cut."""
    if group[0].told is None:
        return False
    limit = min(enough(item, hit.source, least) for hit in group)
    if item.speaker is not None and limit < math.inf and len({hit.source.uid for hit in group}) > 1:
        return True  # nobody says by chance what several others said
    is_some = len(group) > 1 or (group[0].run is not None and group[0].run.is_cut)
    return is_some and sum(hit.chars for hit in group) >= limit
