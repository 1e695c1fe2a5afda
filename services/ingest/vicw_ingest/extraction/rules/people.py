"""The people of a text: who is called what, and whom *he*, *her* or a part of a name means.

Rather nobody than the wrong one: where two may be meant, none is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vicw_ingest.extraction.reading import HE, SHE
from vicw_ingest.extraction.rules.genders import gender_meant
from vicw_ingest.extraction.rules.names import TITLES, Kind, Name
from vicw_ingest.extraction.rules.relationships import kind_of, shares
from vicw_shared.language.analysis import Word

BEFORE_PLACES = frozenset("in at near into towards toward through across around via".split())
_DONE_BY_PEOPLE = frozenset(
    "say tell ask think believe want love hate feel hope laugh smile cry reply answer whisper shout marry meet "
    "visit call write read speak talk walk ride drive travel arrive sit stand sleep eat drink cook wear hold "
    "carry promise understand remember forget forgive decide agree refuse blame thank apologise apologize explain "
    "suggest joke nod sigh wonder know like join leave move buy sell borrow lend pay teach learn study work "
    "retire".split()
)
_DONE_BY_TOOLS = frozenset(
    "ask want answer reply call write read speak talk drive sit stand hold carry understand remember forget know join "
    "leave move learn work decide refuse explain suggest expect meet visit".split()
)
"""Tools do these, too, by habit: *Compose reads*. Of what was done once, in the past, people are told."""
_IRREGULAR = {
    "said": "say", "told": "tell", "thought": "think", "felt": "feel", "met": "meet", "wrote": "write",
    "spoke": "speak", "rode": "ride", "drove": "drive", "sat": "sit", "stood": "stand", "slept": "sleep",
    "ate": "eat", "drank": "drink", "wore": "wear", "held": "hold", "understood": "understand",
    "forgot": "forget", "forgave": "forgive", "knew": "know", "left": "leave", "bought": "buy", "sold": "sell",
    "lent": "lend", "paid": "pay", "taught": "teach", "wept": "weep",
}  # fmt: skip
_ENDINGS = (("ied", "y"), ("ies", "y"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"))
_BY_BODY = frozenset(
    "smile laugh cry whisper nod sigh weep sit stand sleep eat drink walk ride kiss marry meet hug shout wear cook "
    "apologise apologize forgive love hate".split()
)
"""Companies and teams say and ask things, but do none of these."""
_WAYS = frozenset({"to", "from", "for"})
_MOTION = frozenset(
    "go goes went gone going come comes came coming drive drove driven sail sailed ride rode travel travelled traveled "
    "move moved return returned fly flew flown head headed get got".split()
)
_MOST_PARTS = 2
_SENTENCES_BACK = 2
_REMEMBERED = 6
"""Sentences in which somebody who was spoken of may still be meant by a pronoun."""
_UNNAMED = "nobody "
"""How the keys begin of those who are spoken of without a name: *the old woman*."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """Somebody who is spoken of in a sentence, from the character ``start`` on.

    ``person``: it is one for certain; ``likely``: it is spelt as most people are.
    """

    key: str
    start: int
    person: bool
    subject: bool = False
    likely: bool = True


class People:
    """Who has been spoken of so far; keys are those of things and relatives.

    In a chat, a pronoun in the first sentences means whom the turn before speaks of, where nobody was named yet.
    """

    def __init__(self, *, chat: bool = False) -> None:
        self._chat = chat
        self._spoken_of: list[list[_Spoken]] = []
        self._gender: dict[str, str] = {}
        self._pairs: list[list[tuple[str, str, str]]] = []

    def next_sentence(self) -> None:
        """Go on to the next sentence."""
        self._spoken_of.append([])
        self._pairs.append([])

    def add(self, key: str, name: Name, words: Sequence[Word], gender: str | None, *, person: bool) -> None:
        """Note that a name was spoken in this sentence, if it may be a person's."""
        if name.kind is not Kind.NAME or is_behind(name, words, BEFORE_PLACES):
            return
        gone_to = is_behind(name, words, _WAYS) and any(word.lower in _MOTION for word in words[: name.head])
        if person or not gone_to:
            subject = words[name.head].relation.startswith("nsubj")
            parts = name.text.split()
            likely = len(parts) <= _MOST_PARTS and all(part[0].isupper() and part[1:].islower() for part in parts)
            self._speak_of(_Spoken(key, name.span.start, person, subject, likely), gender)

    def speak_of(self, key: str, start: int, gender: str | None = None, *, subject: bool = False) -> None:
        """Note that a person is spoken of in this sentence."""
        self._speak_of(_Spoken(key, start, person=True, subject=subject), gender)

    def _speak_of(self, one: _Spoken, gender: str | None) -> None:
        if gender is not None:
            self._gender[one.key] = gender
        self._spoken_of[-1].append(one)

    def speak_of_somebody(self, start: int, gender: str) -> None:
        """Note that somebody without a name is spoken of in this sentence: a pronoun may mean that one."""
        self.speak_of(f"{_UNNAMED}{start}", start, gender)

    def belong(self, one: str, other: str, relationship: str = "") -> None:
        """Note that two are named together in this sentence, and what they are to each other."""
        self._pairs[-1].append((one, other, relationship))

    def meant_by(self, pronoun: str, at: int | None = None) -> str | None:
        """Return whom a pronoun means that stands at a character of this sentence; None: at its start.

        It is the one who fits of those named nearest before it. Who is not known to be a man or a woman fits where
        nobody else does, in this sentence and the two before; and where nobody known to fit was lately spoken of.
        """
        gender = gender_meant(pronoun)
        if gender is None:
            return None
        here = [one for one in self._spoken_of[-1] if at is not None and one.start < at]
        near = [fitting for spoken in self._before(here, _SENTENCES_BACK) if (fitting := self._fitting(spoken, gender))]
        if not near:
            nobody = not here and not any(self._spoken_of[:-1]) and len(self._spoken_of) <= _SENTENCES_BACK
            return {"m": HE, "f": SHE}[gender] if self._chat and nobody else None
        nearest = near[0]
        sure = [one for one in nearest if self._is_known(one, gender)]
        if sure:
            others = [one for one in nearest if one not in sure and one.person and one.subject]
            only = len({one.key for one in sure}) == 1 and (not others or any(one.subject for one in sure))
            return self._is(sure[0].key, gender) if only else None
        everybody = {one.key for fitting in near for one in fitting}
        lately = (one for spoken in self._before(here, _REMEMBERED) for one in spoken)
        likely = nearest[0].person or any(one.subject for one in nearest)
        if len(everybody) > 1 or not likely or any(self._is_known(one, gender) for one in lately):
            return None
        return self._is(nearest[0].key, gender)

    def _before(self, here: list[_Spoken], sentences: int) -> list[list[_Spoken]]:
        """Return who is spoken of before a place, the nearest first."""
        return [here, *reversed(self._spoken_of[:-1][-sentences:])]

    def _fitting(self, spoken: Sequence[_Spoken], gender: str) -> list[_Spoken]:
        return [one for one in spoken if self._gender_of(one.key) in {None, gender}]

    def _is_known(self, one: _Spoken, gender: str) -> bool:
        return self._gender_of(one.key) == gender

    def _gender_of(self, key: str) -> str | None:
        return self._gender.get(key)

    def whose(self, pronoun: str, at: int, owner: str | None, *, plain: bool = False) -> str | None:
        """Return whom *his* or *her* means: ``owner``, who is the subject, if that fits, else as ``meant_by``.

        Not where another who fits is named before, unless it is ``plain``.
        """
        gender = gender_meant(pronoun)
        here = [one for one in self._spoken_of[-1] if one.start < at]
        if gender is None or owner not in {one.key for one in here}:
            return self.meant_by(pronoun, at)
        fitting = {one.key: one for one in self._fitting(here, gender)}
        if owner not in fitting:
            return self.meant_by(pronoun, at)
        known = self._gender_of(owner) == gender
        others = [one for key, one in fitting.items() if key != owner and (self._is_known(one, gender) or not known)]
        return self._is(owner, gender) if plain or not any(one.person or one.likely for one in others) else None

    def theirs(self, relationship: str, at: int) -> tuple[str, ...]:
        """Return whose somebody is that is called *their father*: of the two who were just named together, alone."""
        for number in range(-1, -min(len(self._spoken_of), 2) - 1, -1):
            spoken = [one for one in self._spoken_of[number] if number < -1 or one.start < at]
            pairs = [pair for pair in self._pairs[number] if {pair[0], pair[1]} <= {one.key for one in spoken}]
            if not pairs:
                if any(one.person for one in spoken):
                    return ()
                continue
            ends = {end for pair in pairs for end in pair[:2]}
            told = [said for _, _, said in pairs if said]
            plain = len(ends) == 2 and all(one.key in ends for one in spoken)
            fits = all(shares(said, relationship) for said in told) or not kind_of(relationship)
            return tuple(dict.fromkeys(one.key for one in spoken if one.key in ends)) if plain and fits else ()
        return ()

    def _is(self, key: str, gender: str) -> str | None:
        if key.startswith(_UNNAMED):
            return None
        self._gender.setdefault(key, gender)
        return key


def seems_person(name: Name, words: Sequence[Word]) -> bool:
    """Tell whether a title, or what it does, says that a name is a person's."""
    if name.kind is not Kind.NAME or any(ch.isdigit() for ch in name.text):
        return False
    first = _first(name, words)
    before = words[first - 1].lower if first > 0 else ""
    if before in TITLES or (words[first].lower in TITLES and words[first].end < name.span.end):
        return True
    if before in {"named", "called"} and {word.lower for word in words[:first]} & {"man", "woman", "boy", "girl"}:
        return True
    verb = _verb_of(name, words)
    if before in {"the", "a", "an"} or verb is None:
        return False
    past = verb in _IRREGULAR or verb.endswith("ed")
    return _stem(verb) in (_DONE_BY_PEOPLE if past else _DONE_BY_PEOPLE - _DONE_BY_TOOLS)


def is_behind(name: Name, words: Sequence[Word], marks: Collection[str]) -> bool:
    """Tell whether one of these words stands right before a name."""
    first = _first(name, words)
    return first > 0 and words[first - 1].lower in marks


def acts_by_body(name: Name, words: Sequence[Word]) -> bool:
    """Tell whether a name is that of somebody who did what only a person does."""
    verb = _verb_of(name, words)
    return verb is not None and _stem(verb) in _BY_BODY


def _verb_of(name: Name, words: Sequence[Word]) -> str | None:
    """Return the verb whose subject a name is."""
    parts = [word for word in words[: name.head + _MOST_PARTS] if name.span.start <= word.start < name.span.end]
    heads = [words[word.head] for word in parts if word.relation == "nsubj" and word.head >= 0]
    return next((head.lower for head in heads if not name.span.start <= head.start < name.span.end), None)


def _first(name: Name, words: Sequence[Word]) -> int:
    return next(place for place, word in enumerate(words) if name.span.start < word.end)


def _stem(verb: str) -> str:
    """Return what a verb's form is likely a form of."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for suffix, end in _ENDINGS:
        if verb.endswith(suffix) and verb.removesuffix(suffix) + end in _DONE_BY_PEOPLE:
            return verb.removesuffix(suffix) + end
    return verb
