"""Map a model's answer to a TextExtraction. Parts that the text does not support are dropped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice

from vicw_ingest.extraction.llm.claims import ClaimMapper
from vicw_ingest.extraction.llm.grounding import Grounding
from vicw_ingest.extraction.llm.schema import AnswerClaim, AnswerEntity, AnswerEvent, AnswerRelation, ParsedAnswer
from vicw_ingest.extraction.model import (
    ITEM,
    SPEAKER,
    STATEMENT,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedRelation,
    SourceText,
    TextExtraction,
)
from vicw_shared.model import Label
from vicw_shared.text import fold_case

MOST = 60
"""Limit on the elements of a kind taken from one answer."""
_NAME_CHARS, _TOLD_CHARS = 200, 1000
_CAUSES = "CAUSED"
_RULED = frozenset({_CAUSES, "ENABLED"})
_OURS = {
    **dict.fromkeys((STATEMENT, "macro"), "event"),
    **dict.fromkeys(("user", "chat"), "person"),
    **dict.fromkeys(("tag", "bucket", "context"), "idea"),
}
"""Subtypes reserved by VICW, and their replacements in a model's answer."""


class AnswerMapper:
    """Map the answers about one text to extractions. ``dropped`` counts dropped parts by reason."""

    def __init__(self, source: SourceText, types: Sequence[str], by: str, most: int) -> None:
        """``types`` are the allowed relation types; ``by`` names the model; ``most`` limits the parts in total."""
        self._source = source
        self._types = frozenset(types)
        self._by = by
        self._room = most
        self.dropped: Counter[str] = Counter()
        self._claiming = ClaimMapper(source.text, source.speaker, self.dropped)

    def map(self, answer: ParsedAnswer, *, start: int, end: int, part: int) -> TextExtraction:
        """Return the extraction for the characters ``start`` to ``end``, the part number ``part`` of the text."""
        ground = Grounding(self._source.text[start:end], self._source.speaker, self._source.name)
        reading, keys = TextExtraction(by=self._by), self._keys()
        for kind, label in (("entities", Label.ENTITY), ("concepts", Label.CONCEPT)):
            for said in self._some(getattr(answer, kind)):
                if thing := self._thing(said, label, ground, start, f"llm {part} {said.id}"):
                    self._add_key(keys, said.id, said.name, thing.key)
                    reading.things.append(thing)
        for event in self._some(answer.events):
            if happening := self._event(event, ground, start, f"llm {part} {event.id}"):
                self._add_key(keys, event.id, event.name, happening.key)
                reading.happenings.append(happening)
        reading.links += self._links(answer.relations, keys, reading)
        self._claim(answer.claims, keys, reading, ground, start)
        return reading

    def _claim(
        self,
        claims: Sequence[AnswerClaim],
        keys: Mapping[str, str],
        reading: TextExtraction,
        ground: Grounding,
        start: int,
    ) -> None:
        """Add the attribute claims, each with the statement that makes it."""
        self.dropped["too_many"] += max(0, len(claims) - MOST)
        things = {thing.key: thing for thing in reading.things}
        told = [made for said in claims[:MOST] if (made := self._claiming.map(said, keys, things, ground, start))]
        told = [made for made in told if self._take_room()]
        reading.happenings += {statement.key: statement for statement, _ in told}.values()
        reading.asserted += [asserted for _, asserted in told]

    def _keys(self) -> dict[str, str]:
        return {ITEM: ITEM} | ({SPEAKER: SPEAKER} if self._source.speaker is not None else {})

    @staticmethod
    def _add_key(keys: dict[str, str], local: str, name: str, key: str) -> None:
        keys[local] = key
        keys.setdefault(fold_case(name), key)  # models use names where ids are required

    def _some[S: (AnswerEntity, AnswerEvent)](self, said: Sequence[S]) -> Iterator[S]:
        """Yield the elements within the limits, each id once."""
        seen: set[str] = set()
        self.dropped["too_many"] += max(0, len(said) - MOST)
        for one in islice(said, MOST):
            if len(one.name) > _NAME_CHARS or len(one.id) > _NAME_CHARS:
                self.dropped["too_long"] += 1
            elif one.id in seen:
                self.dropped["repeated"] += 1
            elif self._take_room():
                seen.add(one.id)
                yield one

    def _take_room(self) -> bool:
        if not self._room:
            self.dropped["too_many"] += 1
            return False
        self._room -= 1
        return True

    def _thing(
        self, said: AnswerEntity, label: Label, ground: Grounding, start: int, key: str
    ) -> ExtractedEntity | None:
        """Return an entity under the first of its names found in the text."""
        for name in (said.name, *said.aliases[:5]):
            span = ground.find(name) if len(name) <= _NAME_CHARS else None
            if span is not None:
                break
        else:
            self.dropped["not_in_text"] += 1
            return None
        default = "thing" if label is Label.ENTITY else "idea"
        return ExtractedEntity(
            key, name, label, None, _subtype(said.subtype, default), span.moved(start), description=_short(said)
        )

    def _event(self, said: AnswerEvent, ground: Grounding, start: int, key: str) -> ExtractedEvent | None:
        span = ground.quoted((said.quote or said.name)[:_TOLD_CHARS])
        if span is None:
            self.dropped["not_in_text"] += 1
            return None
        return ExtractedEvent(key, said.name, _subtype(said.subtype, "event"), span.moved(start), _instant(said.time))

    def _links(
        self, relations: Sequence[AnswerRelation], keys: Mapping[str, str], reading: TextExtraction
    ) -> Iterator[ExtractedRelation]:
        self.dropped["too_many"] += max(0, len(relations) - MOST)
        at = {happening.key: happening.at for happening in reading.happenings}
        links = [link for said in relations[:MOST] if (link := self._link(said, keys))]
        followed: dict[str, set[str]] = {}
        # In order of certainty: the least certain cause of a cycle is dropped.
        for link in sorted(links, key=lambda link: -(link.certainty or 0.0)):
            if link.type == _CAUSES:
                cause, effect = at.get(link.source), at.get(link.target)
                if cause is not None and effect is not None and cause > effect:
                    self.dropped["effect_before_cause"] += 1
                    continue
                if _leads(followed, link.target, link.source):
                    self.dropped["circle"] += 1
                    continue
                followed.setdefault(link.source, set()).add(link.target)
            if self._take_room():
                yield link

    def _link(self, said: AnswerRelation, keys: Mapping[str, str]) -> ExtractedRelation | None:
        source, target = (keys.get(end) or keys.get(fold_case(end)) for end in (said.source, said.target))
        if said.type not in self._types:
            self.dropped["unknown_type"] += 1
        elif source is None or target is None:
            self.dropped["unknown_end"] += 1
        elif source == target:
            self.dropped["to_itself"] += 1
        elif said.desc is not None and len(said.desc) > _NAME_CHARS:
            self.dropped["too_long"] += 1
        else:
            certainty = said.certainty if said.type in _RULED else None
            return ExtractedRelation(source, said.type, target, self._by, certainty, said.desc)
        return None


def _leads(followed: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether a causal chain leads from one event to another."""
    seen, ahead = {start}, [start]
    while ahead:
        key = ahead.pop()
        if key == end:
            return True
        new = followed.get(key, set()) - seen
        seen |= new
        ahead += new
    return False


def _subtype(said: str | None, default: str) -> str:
    subtype = " ".join((said or default).split())
    subtype = _OURS.get(fold_case(subtype), subtype)
    return subtype if len(subtype) <= _NAME_CHARS else default


def _short(said: AnswerEntity) -> str | None:
    return said.description if said.description is not None and len(said.description) <= _TOLD_CHARS else None


def _instant(said: str | None) -> datetime | None:
    """Parse a time from a model's answer; without a zone it is UTC. None if it does not parse."""
    if said is None:
        return None
    try:
        instant = datetime.fromisoformat(said.strip())
        return instant.astimezone(UTC) if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
