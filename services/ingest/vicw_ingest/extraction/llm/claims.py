"""What a model says that an attribute of something is, in the form in which the rules say it: one slot for both.

What the text does not bear out, word for word, is left out: the quotation, the value, and of whom it is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_ingest.extraction.llm.grounding import Grounding
from vicw_ingest.extraction.llm.schema import AnswerClaim
from vicw_ingest.extraction.model import ITEM, SPEAKER, STATEMENT, AttributeClaim, ExtractedEntity, ExtractedEvent
from vicw_ingest.extraction.rules.attribute_claims.subjects import subject_of
from vicw_shared.language.sentences import sentences
from vicw_shared.language.tokens import Span
from vicw_shared.text import fold_case

_CHARS = 200
_QUOTE_CHARS = 1000
_NOT_ASSERTED = re.compile(
    r"[?？؟][\s\"'”’)»]*$|^\W*(?:(?:please|now|then|so|and)\W+)*(?:"
    r"(?:ignore|disregard|forget|override)\b.*\b(?:above|previous|instructions?|prompts?|rules|everything|before)\b|"
    r"(?:claim|say|pretend|assume|answer|reply|respond|output|report|tell (?:me|us|them|everyone|everybody))\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A question, and an order to say something, to whoever reads it: neither says that it is so."""
_SINGLE = frozenset(
    "home employer occupation role name owner lead manager price version schedule port deadline address age".split()
)
_SINGLE_KINDS = ("count of ", "favourite ")
"""Attributes of one value at a time. Of others another value replaces the older only where a change is told."""


@dataclass(slots=True)
class ClaimMapper:
    """Turns a model's claims about one text into what its sentences assert. ``dropped`` counts those left out."""

    text: str
    speaker: str | None
    dropped: Counter[str]
    _sentences: Sequence[Span] = field(init=False)
    _told: set[tuple[str | None, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._sentences = list(sentences(self.text))

    def map(
        self,
        said: AnswerClaim,
        keys: Mapping[str, str],
        things: Mapping[str, ExtractedEntity],
        ground: Grounding,
        start: int,
    ) -> tuple[ExtractedEvent, AttributeClaim] | None:
        """Return a claim with the sentence that makes it; None if it is none, or the text does not say so.

        ``keys`` are those of what the answer names, ``ground`` is the text from ``start`` that the model has read.
        """
        quote = ground.quoted(said.quote[:_QUOTE_CHARS])
        value = " ".join((said.value or "").split())
        attribute = subject_of(f"the {said.attribute}")
        whose_and_of = self._owner_and_attribute(said, keys, things)
        if quote is None or (value and ground.find(value) is None):
            self.dropped["not_in_text"] += 1
        elif whose_and_of is None:
            self.dropped["unknown_end"] += 1
        elif attribute is None or not (value or said.ended):
            self.dropped["empty"] += 1
        elif max(map(len, (value, attribute, whose_and_of[1]))) > _CHARS:
            self.dropped["too_long"] += 1
        else:
            statement = self._statement(quote.start + start)
            if _NOT_ASSERTED.search(statement.text):
                self.dropped["not_asserted"] += 1
            elif self._is_new(statement.key, whose_and_of, attribute, value, ended=said.ended):
                single = attribute in _SINGLE or attribute.startswith(_SINGLE_KINDS)
                return statement, AttributeClaim(
                    statement.key,
                    *whose_and_of,
                    attribute,
                    value,
                    ended=said.ended,
                    source=self._source(said, keys, things),
                    weak=not single,
                    now=said.changed or said.ended,
                )
            else:
                self.dropped["repeated"] += 1
        return None

    def _is_new(
        self, statement: str, whose_and_of: tuple[str | None, str], attribute: str, value: str, *, ended: bool
    ) -> bool:
        """Take what a sentence says for told; False if it was: one value has one attribute, whatever that is called."""
        tellings: set[tuple[str | None, ...]] = {(statement, *whose_and_of, attribute)}
        tellings |= {(statement, *whose_and_of, fold_case(value), str(ended))} if value else set()
        new = self._told.isdisjoint(tellings)
        self._told |= tellings
        return new

    def _key(self, name: str, keys: Mapping[str, str], things: Mapping[str, ExtractedEntity]) -> str | None:
        """Return whom an answer means; who speaks is the speaker, by name too."""
        key = keys.get(name) or keys.get(fold_case(name))
        thing = things.get(key or "")
        called = fold_case(thing.name if thing is not None else name)
        return SPEAKER if self.speaker is not None and called == fold_case(self.speaker) else key

    def _owner_and_attribute(
        self, said: AnswerClaim, keys: Mapping[str, str], things: Mapping[str, ExtractedEntity]
    ) -> tuple[str | None, str] | None:
        """Return the key of whose attribute it is, and what of theirs; a thing of no name of its own has no key."""
        key = self._key(said.subject, keys, things)
        of = (subject_of(f"the {said.of}") or "") if said.of else ""
        thing = things.get(key or "")
        if key == SPEAKER or (thing is not None and thing.name[:1].isupper()):
            return key, of
        if thing is None or key == ITEM:
            return None
        return None, " ".join(filter(None, (subject_of(f"the {thing.name}"), of)))

    def _source(self, said: AnswerClaim, keys: Mapping[str, str], things: Mapping[str, ExtractedEntity]) -> str | None:
        """Return the key of whom the speaker has it from, an empty one of somebody unknown; None: nobody."""
        key = self._key(said.heard_from, keys, things) if said.heard_from is not None else SPEAKER
        return None if key == SPEAKER else key or ""

    def _statement(self, place: int) -> ExtractedEvent:
        """Return the sentence at a place of the text."""
        number = max((n for n, span in enumerate(self._sentences) if span.start <= place), default=0)
        span = self._sentences[number]
        return ExtractedEvent(f"llm sentence {number}", self.text[span.start : span.end], STATEMENT, span)
