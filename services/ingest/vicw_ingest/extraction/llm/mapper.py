"""Map a model's answer to a TextExtraction. Parts that the text does not support are dropped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice

from vicw_ingest.extraction.llm.claims import ClaimMapper
from vicw_ingest.extraction.llm.grounding import Grounding
from vicw_ingest.extraction.llm.schema import AnswerClaim, AnswerEntity, AnswerEvent, AnswerRelation, ParsedAnswer
from vicw_shared.model import Label
from vicw_shared.model.extraction import (
    ITEM,
    SPEAKER,
    STATEMENT,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedRelation,
    SourceText,
    TextExtraction,
)
from vicw_shared.text import fold_case

MAX_PARTS = 60
"""Limit on the elements of a kind taken from one answer."""
_NAME_CHARS, _TOLD_CHARS = 200, 1000
_CAUSES = "CAUSED"
_WITH_CERTAINTY = frozenset({_CAUSES, "ENABLED"})
_RESERVED = {
    **dict.fromkeys((STATEMENT, "macro"), "event"),
    **dict.fromkeys(("user", "chat"), "person"),
    **dict.fromkeys(("tag", "bucket", "context"), "idea"),
}
"""Subtypes reserved by VICW, and their replacements in a model's answer."""


class AnswerMapper:
    """Map the answers about one text to extractions. ``dropped`` counts dropped parts by reason."""

    def __init__(self, source: SourceText, types: Sequence[str], by: str, max_parts: int) -> None:
        """``types`` are the allowed relation types; ``by`` names the model; ``max_parts`` limits the parts in total."""
        self._source = source
        self._types = frozenset(types)
        self._by = by
        self._remaining = max_parts
        self.dropped: Counter[str] = Counter()
        self._claim_mapper = ClaimMapper(source.text, source.speaker, self.dropped)

    def map(self, answer: ParsedAnswer, *, start: int, end: int, part: int) -> TextExtraction:
        """Return the extraction for the characters ``start`` to ``end``, the part number ``part`` of the text."""
        grounding = Grounding(self._source.text[start:end], self._source.speaker, self._source.name)
        extraction, keys = TextExtraction(by=self._by), self._keys()
        for kind, label in (("entities", Label.ENTITY), ("concepts", Label.CONCEPT)):
            for entity in self._within_limits(getattr(answer, kind)):
                if extracted := self._entity(entity, label, grounding, start, f"llm {part} {entity.id}"):
                    self._add_key(keys, entity.id, entity.name, extracted.key)
                    extraction.entities.append(extracted)
        for event in self._within_limits(answer.events):
            if extracted_event := self._event(event, grounding, start, f"llm {part} {event.id}"):
                self._add_key(keys, event.id, event.name, extracted_event.key)
                extraction.events.append(extracted_event)
        extraction.relations += self._relations(answer.relations, keys, extraction)
        self._add_claims(answer.claims, keys, extraction, grounding, start)
        return extraction

    def _add_claims(
        self,
        claims: Sequence[AnswerClaim],
        keys: Mapping[str, str],
        extraction: TextExtraction,
        grounding: Grounding,
        start: int,
    ) -> None:
        """Add the attribute claims, each with the statement that makes it."""
        self.dropped["too_many"] += max(0, len(claims) - MAX_PARTS)
        entities = {entity.key: entity for entity in extraction.entities}
        mapped = [
            pair
            for claim in claims[:MAX_PARTS]
            if (pair := self._claim_mapper.map(claim, keys, entities, grounding, start))
        ]
        mapped = [pair for pair in mapped if self._take_one()]
        extraction.events += {statement.key: statement for statement, _ in mapped}.values()
        extraction.claims += [attribute_claim for _, attribute_claim in mapped]

    def _keys(self) -> dict[str, str]:
        return {ITEM: ITEM} | ({SPEAKER: SPEAKER} if self._source.speaker is not None else {})

    @staticmethod
    def _add_key(keys: dict[str, str], local: str, name: str, key: str) -> None:
        keys[local] = key
        keys.setdefault(fold_case(name), key)  # models use names where ids are required

    def _within_limits[S: (AnswerEntity, AnswerEvent)](self, parts: Sequence[S]) -> Iterator[S]:
        """Yield the elements within the limits, each id once."""
        seen: set[str] = set()
        self.dropped["too_many"] += max(0, len(parts) - MAX_PARTS)
        for part in islice(parts, MAX_PARTS):
            if len(part.name) > _NAME_CHARS or len(part.id) > _NAME_CHARS:
                self.dropped["too_long"] += 1
            elif part.id in seen:
                self.dropped["repeated"] += 1
            elif self._take_one():
                seen.add(part.id)
                yield part

    def _take_one(self) -> bool:
        if not self._remaining:
            self.dropped["too_many"] += 1
            return False
        self._remaining -= 1
        return True

    def _entity(
        self, entity: AnswerEntity, label: Label, grounding: Grounding, start: int, key: str
    ) -> ExtractedEntity | None:
        """Return an entity under the first of its names found in the text."""
        for name in (entity.name, *entity.aliases[:5]):
            span = grounding.find(name) if len(name) <= _NAME_CHARS else None
            if span is not None:
                break
        else:
            self.dropped["not_in_text"] += 1
            return None
        default = "thing" if label is Label.ENTITY else "idea"
        return ExtractedEntity(
            key, name, label, None, _subtype(entity.subtype, default), span.moved(start), description=_short(entity)
        )

    def _event(self, event: AnswerEvent, grounding: Grounding, start: int, key: str) -> ExtractedEvent | None:
        span = grounding.quoted((event.quote or event.name)[:_TOLD_CHARS])
        if span is None:
            self.dropped["not_in_text"] += 1
            return None
        return ExtractedEvent(
            key, event.name, _subtype(event.subtype, "event"), span.moved(start), _instant(event.time)
        )

    def _relations(
        self, relations: Sequence[AnswerRelation], keys: Mapping[str, str], extraction: TextExtraction
    ) -> Iterator[ExtractedRelation]:
        self.dropped["too_many"] += max(0, len(relations) - MAX_PARTS)
        times = {event.key: event.at for event in extraction.events}
        extracted = [link for relation in relations[:MAX_PARTS] if (link := self._relation(relation, keys))]
        effects: dict[str, set[str]] = {}
        # In order of certainty: the least certain cause of a cycle is dropped.
        for link in sorted(extracted, key=lambda link: -(link.certainty or 0.0)):
            if link.type == _CAUSES:
                cause, effect = times.get(link.source), times.get(link.target)
                if cause is not None and effect is not None and cause > effect:
                    self.dropped["effect_before_cause"] += 1
                    continue
                if _reaches(effects, link.target, link.source):
                    self.dropped["circle"] += 1
                    continue
                effects.setdefault(link.source, set()).add(link.target)
            if self._take_one():
                yield link

    def _relation(self, relation: AnswerRelation, keys: Mapping[str, str]) -> ExtractedRelation | None:
        source, target = (keys.get(end) or keys.get(fold_case(end)) for end in (relation.source, relation.target))
        if relation.type not in self._types:
            self.dropped["unknown_type"] += 1
        elif source is None or target is None:
            self.dropped["unknown_end"] += 1
        elif source == target:
            self.dropped["to_itself"] += 1
        elif relation.desc is not None and len(relation.desc) > _NAME_CHARS:
            self.dropped["too_long"] += 1
        else:
            certainty = relation.certainty if relation.type in _WITH_CERTAINTY else None
            return ExtractedRelation(source, relation.type, target, self._by, certainty, relation.desc)
        return None


def _reaches(effects: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether a causal chain leads from one event to another."""
    seen, ahead = {start}, [start]
    while ahead:
        key = ahead.pop()
        if key == end:
            return True
        new = effects.get(key, set()) - seen
        seen |= new
        ahead += new
    return False


def _subtype(written: str | None, default: str) -> str:
    subtype = " ".join((written or default).split())
    subtype = _RESERVED.get(fold_case(subtype), subtype)
    return subtype if len(subtype) <= _NAME_CHARS else default


def _short(entity: AnswerEntity) -> str | None:
    return entity.description if entity.description is not None and len(entity.description) <= _TOLD_CHARS else None


def _instant(written: str | None) -> datetime | None:
    """Parse a time from a model's answer; without a zone it is UTC. None if it does not parse."""
    if written is None:
        return None
    try:
        instant = datetime.fromisoformat(written.strip())
        return instant.astimezone(UTC) if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
