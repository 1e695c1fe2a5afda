"""The people of a text: who is called what, and whom *he*, *her* or a part of a name means.

Rather nobody than the wrong one: where two may be meant, none is.
"""

from __future__ import annotations

from collections.abc import Sequence

from vicw_ingest.extraction.rules.names import Kind, Name
from vicw_shared.language.analysis import Word

_HE, _SHE = frozenset({"he", "him", "his"}), frozenset({"she", "her", "hers"})
_MALE = frozenset(
    "mr mr. sir lord king prince uncle father dad papa brother son husband boyfriend fiancé grandfather grandpa "
    "grandson nephew stepfather stepbrother stepson godfather landlord father-in-law brother-in-law son-in-law".split()
)
_FEMALE = frozenset(
    "mrs mrs. ms ms. miss mistress lady queen princess aunt mother mom mum mama sister daughter wife girlfriend "
    "fiancée grandmother grandma granddaughter niece stepmother stepsister stepdaughter godmother landlady "
    "mother-in-law sister-in-law daughter-in-law".split()
)
_TITLES = frozenset(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor sir lady lord king queen prince princess captain "
    "mistress master sergeant colonel general major lieutenant officer judge inspector president senator aunt "
    "uncle father mother brother sister".split()
)
_BEFORE_PLACES = frozenset("in at near into towards toward through across around via".split())
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
    "lent": "lend", "paid": "pay", "taught": "teach",
}  # fmt: skip
_ENDINGS = (("ied", "y"), ("ies", "y"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"))
_SENTENCES_BACK = 2


class People:
    """Who has been spoken of so far; keys are those of things."""

    def __init__(self) -> None:
        self._spoken_of: list[list[str]] = []
        self._gender: dict[str, str] = {}
        self._by_part: dict[str, set[str]] = {}

    def next_sentence(self) -> None:
        """Go on to the next sentence."""
        self._spoken_of.append([])

    def known_as(self, name: str) -> str | None:
        """Return the key of the one person of whose name this word is a part."""
        keys = self._by_part.get(name.casefold(), set())
        return next(iter(keys)) if len(keys) == 1 else None

    def add(self, key: str, name: Name, words: Sequence[Word]) -> None:
        """Note that a name was spoken in this sentence, if it may be a person's."""
        first = next(place for place, word in enumerate(words) if name.span.start < word.end)
        before = words[first - 1].lower if first > 0 else ""
        if name.kind is not Kind.NAME or before in _BEFORE_PLACES:
            return
        if key not in self._spoken_of[-1]:
            self._spoken_of[-1].append(key)
        self.is_called(key, before)
        parts = name.text.split()
        if len(parts) > 1:
            self.is_called(key, parts[0].casefold())
            if seems_person(name, words):
                self._by_part.setdefault(parts[-1].casefold(), set()).add(key)

    def is_called(self, key: str, what: str) -> None:
        """Note a word that says what somebody is: a title, a relationship."""
        what = what.rpartition(" ")[2].removeprefix("ex-").removeprefix("half-")
        if what in _MALE or what in _FEMALE:
            self._gender.setdefault(key, "m" if what in _MALE else "f")

    def meant_by(self, pronoun: str) -> str | None:
        """Return whom a pronoun at the start of this sentence means: the one who fits of the sentences before."""
        gender = _gender_of(pronoun)
        if gender is None:
            return None
        for spoken in reversed(self._spoken_of[:-1][-_SENTENCES_BACK:]):
            fitting = [key for key in spoken if self._gender.get(key, gender) == gender]
            if fitting:
                return self._is(fitting[0], gender) if len(fitting) == 1 else None
        return None

    def whose(self, pronoun: str, subject: str | None) -> str | None:
        """Return whom *his* or *her* means: the subject of its sentence if that fits, else as ``meant_by``."""
        gender = _gender_of(pronoun)
        if gender is not None and subject in self._spoken_of[-1] and self._gender.get(subject, gender) == gender:
            return self._is(subject, gender)
        return self.meant_by(pronoun)

    def _is(self, key: str, gender: str) -> str:
        self._gender.setdefault(key, gender)
        return key


def _gender_of(pronoun: str) -> str | None:
    return "m" if pronoun in _HE else "f" if pronoun in _SHE else None


def seems_person(name: Name, words: Sequence[Word]) -> bool:
    """Tell whether a title, or what it does, says that a name is a person's."""
    if name.kind is not Kind.NAME or any(ch.isdigit() for ch in name.text):
        return False
    first = next(place for place, word in enumerate(words) if name.span.start < word.end)
    before = words[first - 1].lower if first > 0 else ""
    if before in _TITLES or (words[first].lower in _TITLES and words[first].end < name.span.end):
        return True
    if before in {"named", "called"} and {word.lower for word in words[:first]} & {"man", "woman", "boy", "girl"}:
        return True
    head = words[name.head]
    if before in {"the", "a", "an"} or head.relation != "nsubj" or head.head < 0:
        return False
    verb = words[head.head].lower
    past = verb in _IRREGULAR or verb.endswith("ed")
    return _stem(verb) in (_DONE_BY_PEOPLE if past else _DONE_BY_PEOPLE - _DONE_BY_TOOLS)


def _stem(verb: str) -> str:
    """Return what a verb's form is likely a form of."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for suffix, end in _ENDINGS:
        if verb.endswith(suffix) and verb.removesuffix(suffix) + end in _DONE_BY_PEOPLE:
            return verb.removesuffix(suffix) + end
    return verb
