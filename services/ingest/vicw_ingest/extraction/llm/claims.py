"""Map a model's attribute claims to AttributeClaims: one slot for an attribute, however the model words it.

A claim is dropped if the text does not support its quotation, its value or its subject.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_core.language.sentences import sentences
from vicw_ingest.extraction.llm.grounding import Grounding
from vicw_ingest.extraction.llm.schema import AnswerClaim
from vicw_shared.model.extraction import ITEM, SPEAKER, STATEMENT, AttributeClaim, ExtractedEntity, ExtractedEvent
from vicw_shared.text import Span, fold_case

_NAME = r"[A-Z][\w'’.&+-]*(?: (?:[A-Z][\w'’.&+-]*|v?\d[\w.]*)){0,2}"
_SYNONYMS = {"head": "lead", "cost": "price", "color": "colour", "favorite": "favourite", "neighbor": "neighbour"}
_OWNERS = {"my": SPEAKER, "his": "he", "her": "she", "our": "", "the": "", "their": "they"}
_PEOPLE = {"i": SPEAKER, "we": SPEAKER, "he": "he", "she": "she", "they": "they"}
_NO_SUBJECTS = _PEOPLE.keys() | frozenset(
    "you it me us him them who which what this that these those there here everything nothing something everyone "
    "everybody somebody anyone yes no thanks one all some any both most many few each every another next last".split()
)
_OWNED = re.compile(rf"({_NAME.replace("'’", '')})['’]s ")
_JOINS = frozenset("for at in on from".split())
_IGNORED = frozenset("the a an 's my our new current main own usual present actual".split())


def subject_of(text: str) -> str | None:
    """Return the normalised subject of a phrase; None if it is not definite.

    >>> subject_of("my new car"), subject_of("the port of the staging server"), subject_of("Ana's boss")
    ('$speaker car', 'staging server port', "ana's boss")
    """
    if (owned := _OWNED.match(text)) is not None:
        rest = _normalised(text[owned.end() :].split())
        return f"{owned[1].casefold()}'s {rest}" if rest else None
    words = re.sub(r"['’]s\b", " 's", text).split()
    folded = [word.casefold() for word in words]
    if len(words) < 2 and text.casefold() in _PEOPLE:
        return _PEOPLE[text.casefold()]
    if not words or not _NO_SUBJECTS.isdisjoint(folded):
        return None
    of = next((at for at, word in enumerate(words[:-1]) if at and (word == "of" or (at > 1 and word in _JOINS))), None)
    if of is not None:  # the piano in the hall is the hall's piano
        rest = " ".join(words[of + 1 :])
        is_owner_name = words[of] == "of" and re.fullmatch(_NAME, rest) and not rest[-1].isdigit()
        return f"{subject_of(rest) or rest.casefold()}{"'s" if is_owner_name else ''} {_normalised(words[:of])}".strip()
    owner = _OWNERS.get(folded[0])
    return " ".join(filter(None, (owner, _normalised(words if owner is None else words[1:])))) or None


def _normalised(words: list[str]) -> str:
    folded = (word.casefold().strip(".,") for word in words)
    nouns = [_singular(_SYNONYMS.get(word, word)) for word in folded if word not in _IGNORED]
    return " ".join(_SYNONYMS.get(word, word) for word in nouns)


def _singular(noun: str) -> str:
    """Return an approximate singular, good enough to match both forms."""
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


_CHARS = 200
_QUOTE_CHARS = 1000
_NOT_ASSERTED = re.compile(
    r"[?？؟][\s\"'”’)»]*$|^\W*(?:(?:please|now|then|so|and)\W+)*(?:"
    r"(?:ignore|disregard|forget|override)\b.*\b(?:above|previous|instructions?|prompts?|rules|everything|before)\b|"
    r"(?:claim|say|pretend|assume|answer|reply|respond|output|report|tell (?:me|us|them|everyone|everybody))\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Questions, and instructions to the reader to say something: neither asserts the claim."""
_SINGLE = frozenset(
    "home employer occupation role name owner lead manager price version schedule port deadline address age".split()
)
_SINGLE_KINDS = ("count of ", "favourite ")
"""Single-valued attributes. Other attributes: a new value supersedes an old one only if the text states a change."""


@dataclass(slots=True)
class ClaimMapper:
    """Map a model's claims about one text to attribute claims. ``dropped`` counts dropped claims by reason."""

    text: str
    speaker: str | None
    dropped: Counter[str]
    _sentences: Sequence[Span] = field(init=False)
    _seen_claims: set[tuple[str | None, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._sentences = list(sentences(self.text))

    def map(
        self,
        claim: AnswerClaim,
        keys: Mapping[str, str],
        entities: Mapping[str, ExtractedEntity],
        grounding: Grounding,
        start: int,
    ) -> tuple[ExtractedEvent, AttributeClaim] | None:
        """Return a claim with the statement that makes it; None if it is invalid or unsupported by the text.

        ``keys`` map the answer's ids and names to keys; ``grounding`` has the text from ``start`` that the model read.
        """
        quote = grounding.quoted(claim.quote[:_QUOTE_CHARS])
        value = " ".join((claim.value or "").split())
        attribute = subject_of(f"the {claim.attribute}")
        owned = self._owner_and_attribute(claim, keys, entities)
        if quote is None or (value and grounding.find(value) is None):
            self.dropped["not_in_text"] += 1
        elif owned is None:
            self.dropped["unknown_end"] += 1
        elif attribute is None or not (value or claim.ended):
            self.dropped["empty"] += 1
        elif max(map(len, (value, attribute, owned[1]))) > _CHARS:
            self.dropped["too_long"] += 1
        else:
            statement = self._statement(quote.start + start)
            if _NOT_ASSERTED.search(statement.text):
                self.dropped["not_asserted"] += 1
            elif self._is_new(statement.key, owned, attribute, value, ended=claim.ended):
                single = attribute in _SINGLE or attribute.startswith(_SINGLE_KINDS)
                return statement, AttributeClaim(
                    statement.key,
                    *owned,
                    attribute,
                    value,
                    ended=claim.ended,
                    source=self._source(claim, keys, entities),
                    weak=not single,
                    now=claim.changed or claim.ended,
                )
            else:
                self.dropped["repeated"] += 1
        return None

    def _is_new(
        self, statement: str, owned: tuple[str | None, str], attribute: str, value: str, *, ended: bool
    ) -> bool:
        """Record a claim; return False for a repetition: the same attribute, or the same value under any attribute."""
        claim_keys: set[tuple[str | None, ...]] = {(statement, *owned, attribute)}
        claim_keys |= {(statement, *owned, fold_case(value), str(ended))} if value else set()
        is_new = self._seen_claims.isdisjoint(claim_keys)
        self._seen_claims |= claim_keys
        return is_new

    def _key(self, name: str, keys: Mapping[str, str], entities: Mapping[str, ExtractedEntity]) -> str | None:
        """Return the key of a name in an answer. The speaker's own name resolves to SPEAKER."""
        key = keys.get(name) or keys.get(fold_case(name))
        entity = entities.get(key or "")
        folded_name = fold_case(entity.name if entity is not None else name)
        return SPEAKER if self.speaker is not None and folded_name == fold_case(self.speaker) else key

    def _owner_and_attribute(
        self, claim: AnswerClaim, keys: Mapping[str, str], entities: Mapping[str, ExtractedEntity]
    ) -> tuple[str | None, str] | None:
        """Return the owner's key and its thing that has the attribute; key None for a common noun, None if unknown."""
        key = self._key(claim.subject, keys, entities)
        of = (subject_of(f"the {claim.of}") or "") if claim.of else ""
        entity = entities.get(key or "")
        if key == SPEAKER or (entity is not None and entity.name[:1].isupper()):
            return key, of
        if entity is None or key == ITEM:
            return None
        return None, " ".join(filter(None, (subject_of(f"the {entity.name}"), of)))

    def _source(
        self, claim: AnswerClaim, keys: Mapping[str, str], entities: Mapping[str, ExtractedEntity]
    ) -> str | None:
        """Return the key of the speaker's source, empty if unknown; None if the claim is first-hand."""
        key = self._key(claim.heard_from, keys, entities) if claim.heard_from is not None else SPEAKER
        return None if key == SPEAKER else key or ""

    def _statement(self, offset: int) -> ExtractedEvent:
        """Return the sentence at a character offset of the text."""
        number = max((n for n, span in enumerate(self._sentences) if span.start <= offset), default=0)
        span = self._sentences[number]
        return ExtractedEvent(f"llm sentence {number}", self.text[span.start : span.end], STATEMENT, span)
