"""What a model says that an attribute of something is, in the form in which the rules say it: one slot for both.

What the text does not bear out, word for word, is left out: the quotation, the value, and of whom it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_ingest.extraction.llm.grounding import Ground
from vicw_ingest.extraction.llm.schema import SaidClaim
from vicw_ingest.extraction.reading import ITEM, SPEAKER, STATEMENT, Asserted, Happening, Thing
from vicw_ingest.extraction.rules.truth.subjects import subject_of
from vicw_shared.language.sentences import sentences
from vicw_shared.language.tokens import Span
from vicw_shared.text import fold

_CHARS = 200
_QUOTE_CHARS = 1000
_SINGLE = frozenset(
    "home employer occupation role name owner lead manager price version schedule port deadline address age".split()
)
_SINGLE_KINDS = ("count of ", "favourite ")
"""Attributes of one value at a time. Of others another value replaces the older only where a change is told."""


@dataclass(slots=True)
class Claiming:
    """Turns a model's claims about one text into what its sentences assert. ``dropped`` counts those left out."""

    text: str
    dropped: Counter[str]
    _sentences: Sequence[Span] = field(init=False)

    def __post_init__(self) -> None:
        self._sentences = list(sentences(self.text))

    def tell(
        self, said: SaidClaim, keys: Mapping[str, str], things: Mapping[str, Thing], ground: Ground, start: int
    ) -> tuple[Happening, Asserted] | None:
        """Return a claim with the sentence that makes it; None if it is none, or the text does not say so.

        ``keys`` are those of what the answer names, ``ground`` is the text from ``start`` that the model has read.
        """
        quote = ground.quoted(said.quote[:_QUOTE_CHARS])
        value = " ".join((said.value or "").split())
        attribute = subject_of(f"the {said.attribute}")
        whose_and_of = self._whose(said, keys, things)
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
            single = attribute in _SINGLE or attribute.startswith(_SINGLE_KINDS)
            return statement, Asserted(
                statement.key,
                *whose_and_of,
                attribute,
                value,
                ended=said.ended,
                source=_source(said, keys),
                weak=not single,
                now=said.changed or said.ended,
            )
        return None

    def _whose(
        self, said: SaidClaim, keys: Mapping[str, str], things: Mapping[str, Thing]
    ) -> tuple[str | None, str] | None:
        """Return the key of whose attribute it is, and what of theirs; a thing of no name of its own has no key."""
        key = keys.get(said.subject) or keys.get(fold(said.subject))
        of = (subject_of(f"the {said.of}") or "") if said.of else ""
        thing = things.get(key or "")
        if key == SPEAKER or (thing is not None and thing.name[:1].isupper()):
            return key, of
        if thing is None or key == ITEM:
            return None
        return None, " ".join(filter(None, (subject_of(f"the {thing.name}"), of)))

    def _statement(self, place: int) -> Happening:
        """Return the sentence at a place of the text."""
        number = max((n for n, span in enumerate(self._sentences) if span.start <= place), default=0)
        span = self._sentences[number]
        return Happening(f"llm sentence {number}", self.text[span.start : span.end], STATEMENT, span)


def _source(said: SaidClaim, keys: Mapping[str, str]) -> str | None:
    """Return the key of whom the speaker has it from, an empty one of somebody unknown; None: nobody."""
    if said.heard_from is None:
        return None
    key = keys.get(said.heard_from) or keys.get(fold(said.heard_from), "")
    return None if key == SPEAKER else key
