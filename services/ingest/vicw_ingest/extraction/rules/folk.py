"""Who the people of a text are, by all that it says: who is a person, a man or a woman, and by which full name.

Found before the text is read sentence by sentence: what the last sentence tells of somebody holds in the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vicw_ingest.extraction.rules.genders import gender_meant, gender_of
from vicw_ingest.extraction.rules.kinship import Relationship
from vicw_ingest.extraction.rules.names import TITLES, Kind, Name
from vicw_ingest.extraction.rules.people import BEFORE_PLACES, acts_by_body, is_behind, seems_person
from vicw_ingest.extraction.rules.relationships import PERSONAL, PETS, kind_of
from vicw_shared.language.analysis import Word
from vicw_shared.text import fold

_MOST_WORDS = 4
_FAR = 5
"""Words between *a woman* and *named*."""
_INSIDE = frozenset(" -'’.")
_PLACING = frozenset({"in", "across", "via", "near", "through"})
_NAMING = frozenset({"named", "called"})
_ENDS_OF_OTHERS = frozenset(
    "street road lane avenue square bridge river lake island valley hill mountain park station airport port harbour "
    "university college school academy institute hospital church museum library hotel inn restaurant cafe café bar "
    "company corporation corp inc inc. ltd ltd. llc gmbh ag bank group labs lab studio studios systems software cloud "
    "foundation association society club council office department ministry agency team press media news times post "
    "watch phone pro max air cup league county city town village state server service api app".split()
)
"""Last words of names that are nobody's, though somebody may be called as they begin."""


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence: its words, its names, and the relationships that it tells of, with the names that words head."""

    words: Sequence[Word]
    names: Sequence[Name]
    heads: dict[int, Name]
    relationships: Sequence[Relationship]


@dataclass(slots=True)
class Folk:
    """The people of one text, by their folded names."""

    _persons: set[str] = field(default_factory=set)
    _sure: set[str] = field(default_factory=set)
    _genders: dict[str, set[str]] = field(default_factory=dict)
    _full: dict[str, dict[str, str]] = field(default_factory=dict)  # a part of names: full names, folded and written

    @classmethod
    def of(cls, told: Iterable[Told]) -> Folk:
        """Return who is told of in a text."""
        folk, sentences = cls(), list(told)
        sure, doubted, longer = set[str](), set[str](), dict[str, str]()
        for before, sentence in pairwise([None, *sentences]):
            assert sentence is not None
            sure |= folk._relatives(sentence) | folk._meant(before, sentence)
            for name in sentence.names:
                if name.kind is Kind.NAME:
                    sure |= folk._look_at(name, sentence.words, longer, doubted)
        for full, written in longer.items():
            parts = parts_of(full)
            by_part = parts[0] in sure and full not in doubted and full.split()[-1] not in _ENDS_OF_OTHERS
            if full in folk._persons or by_part:
                folk._persons.add(full)
                folk._sure.add(full)
                for part in {parts[0], parts[-1], full.split()[0]}:
                    folk._full.setdefault(part, {})[full] = written
        folk._sure |= sure
        folk._share()
        return folk

    def _relatives(self, sentence: Told) -> set[str]:
        """Take in who is whose relative; return those who are persons for certain."""
        sure = set()
        for one in sentence.relationships:
            family = kind_of(one.relationship) not in {"", "pet"} or one.relationship in PERSONAL
            who = sentence.heads.get(one.name) if one.name is not None else None
            if who is not None and one.relationship.rpartition(" ")[2] not in PETS:
                self._is_person(who.text, gender_of(one.relationship))
                sure.add(fold(who.text))
            owner = sentence.heads.get(one.owner)
            if family and owner is not None:
                self._is_person(owner.text, None)
                sure.add(fold(owner.text))
        return sure

    def _meant(self, before: Told | None, sentence: Told) -> set[str]:
        """Take in whom *he* or *her* shows to be a person: the subject, if it is all that is named before."""
        found = set()
        first = sentence.words[0]
        if before is not None and gender_meant(first.lower) is not None and first.tag == "PRON":
            found |= self._subject(before, len(before.words), gender_meant(first.lower))
        for at, word in enumerate(sentence.words):
            if word.relation == "nmod:poss" and (gender := gender_meant(word.lower)) is not None:
                found |= self._subject(sentence, at, gender)
        return found

    def _subject(self, sentence: Told, end: int, gender: str | None) -> set[str]:
        """Return the only name before a place, if it is a subject, and note that it is a person's."""
        words = sentence.words[:end]
        names = [
            name
            for name in sentence.names
            if name.kind is Kind.NAME and name.head < end and not is_behind(name, words, BEFORE_PLACES)
        ]
        if len(names) != 1 or words[names[0].head].relation != "nsubj" or any(gender_of(w.lower) for w in words):
            return set()
        self._is_person(names[0].text, gender)
        return {fold(names[0].text)}

    def _look_at(self, name: Name, words: Sequence[Word], longer: dict[str, str], doubted: set[str]) -> set[str]:
        """Take in what a sentence says of a name; return it if it is a person's for certain."""
        folded, first = fold(name.text), _first(name, words)
        before = words[first - 1].lower if first > 0 else ""
        if seems_person(name, words):
            self._is_person(name.text, None)
        title = gender_of(before) or gender_of(folded.split()[0])
        if title is not None and (before in TITLES or folded.split()[0] in TITLES):
            self._genders.setdefault(folded, set()).add(title)
        if before in _NAMING:
            told = [
                gender for word in words[max(first - 5, 0) : first] if (gender := gender_of(word.lower)) is not None
            ]
            self._genders.setdefault(folded, set()).update(told[-1:])
        parts = parts_of(folded)
        if (
            0 < len(parts) <= _MOST_WORDS
            and folded != parts[-1]
            and all(ch.isalpha() or ch in _INSIDE for ch in folded)
        ):
            longer.setdefault(folded, name.text)
            if before in _PLACING or before in {"the", "a", "an"}:
                doubted.add(folded)
        return {folded} if acts_by_body(name, words) else set()

    def _is_person(self, name: str, gender: str | None) -> None:
        self._persons.add(fold(name))
        if gender is not None:
            self._genders.setdefault(fold(name), set()).add(gender)

    def _share(self) -> None:
        """Let somebody's full name have what is told of a part of it, where that is nobody else's."""
        for part, full in self._full.items():
            if len(full) == 1:
                (name,) = full
                self._genders.setdefault(name, set()).update(self._genders.get(part, ()))

    def full_name(self, name: Name, words: Sequence[Word]) -> str | None:
        """Return the full name of the one person of whose name this is a part."""
        full = self._full.get(fold(name.text), {}) if name.kind is Kind.NAME else {}
        if len(full) != 1:
            return None
        first = _first(name, words)
        owns = any(word.start == name.span.end and word.tag == "PART" for word in words)
        placed = first > 0 and words[first - 1].lower == "in" and not owns
        return None if placed else next(iter(full.values()))

    def is_acting(self, name: str) -> bool:
        """Tell whether the text tells of somebody of this name what is told of no thing and no company."""
        return fold(name) in self._sure

    def is_person(self, name: str) -> bool:
        """Tell whether the text tells of a person of this name."""
        return fold(name) in self._persons

    def gender_of(self, name: str) -> str | None:
        """Return whether somebody is a man (``m``) or a woman (``f``), where the text says so, and says one."""
        told = self._genders.get(fold(name), set())
        return next(iter(told)) if len(told) == 1 else None


def parts_of(name: str) -> list[str]:
    """Return the words of a folded name without titles."""
    return [word for word in name.split() if word not in TITLES]


def _first(name: Name, words: Sequence[Word]) -> int:
    return next(place for place, word in enumerate(words) if name.span.start < word.end)
