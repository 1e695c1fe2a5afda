"""Whom the names of a text mean, sentence by sentence, and who is whose (HAS_RELATIONSHIP)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from vicw_ingest.extraction.reading import ADDRESSEE, SPEAKER, Kin, Link, Source
from vicw_ingest.extraction.rules.ends import Ends
from vicw_ingest.extraction.rules.folk import Folk, Told
from vicw_ingest.extraction.rules.genders import gender_of
from vicw_ingest.extraction.rules.kinship import ADDRESSEES, SPEAKERS, Relationship, relationships_in
from vicw_ingest.extraction.rules.lowercase import names_in_small_letters
from vicw_ingest.extraction.rules.names import Kind, Name, doubtful_name, names_in
from vicw_ingest.extraction.rules.people import People
from vicw_ingest.extraction.rules.relationships import PETS, kind_of
from vicw_ingest.extraction.rules.things import Things
from vicw_shared.language.analysis import Sentence, Word
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label

_SUBTYPES = {
    Kind.SYMBOL: "symbol",
    Kind.PATH: "file",
    Kind.URL: "url",
    Kind.MAIL: "mail",
    Kind.HANDLE: "handle",
    Kind.AMOUNT: "amount",
}
_OWNERS = {SPEAKERS: SPEAKER, ADDRESSEES: ADDRESSEE}
_THEIRS = "their"
_NAMING = frozenset({"named", "called"})
_DESCRIBING = frozenset({"ADJ", "ADV", "DET"})


class Naming:
    """The names of one text. ``kin`` are those whom it names by a relationship alone."""

    def __init__(self, source: Source, sentences: Sequence[Sentence]) -> None:
        self._source = source
        self.things = Things()
        self.people = People(chat=source.speaker is not None)
        self.kin: list[Kin] = []
        common = {word.text for sentence in sentences for word in sentence.words}
        self._doubtful: set[Name] = set()
        self._ends = [Ends(sentence.words, self._names(sentence, common)) for sentence in sentences]
        self._told = [
            Told(
                sentence.words,
                ends.written,
                ends.by_head(),
                tuple(relationships_in(sentence.words, ends.named, quoting=self._is_quoting(sentence))),
            )
            for sentence, ends in zip(sentences, self._ends, strict=True)
        ]
        self._folk = Folk.of(self._told)

    def _names(self, sentence: Sentence, common: Collection[str]) -> list[Name]:
        found = list(names_in(sentence, common))
        small = list(names_in_small_letters(sentence.words, found))
        doubtful = doubtful_name(sentence.words, common)
        if doubtful is not None and all(name.span.start > doubtful.span.start for name in found):
            self._doubtful.add(doubtful)
            small.append(doubtful)
        return sorted([*found, *small], key=lambda name: name.span.start)

    def read(self, number: int, found: list[Link]) -> Ends:
        """Return whom a sentence names, by name or by a relationship alone; who is whose is added to what is found."""
        self.people.next_sentence()
        ends = self._ends[number]
        found += self._name_all(self._told[number], ends)
        for at, gender in _unnamed(self._told[number], ends):
            self.people.speak_of_somebody(self._told[number].words[at].start, gender)
        return ends

    def _name_all(self, told: Told, ends: Ends) -> Iterator[Link]:
        words = told.words
        introduced = {ends.name_at(found.name) for found in told.relationships if found.name is not None}
        for name in ends.written:
            if name not in introduced:
                ends.know(name, self._name(name, words))
        self._note_pairs(words, ends)
        for found in told.relationships:
            owners = self._owners(found, words, ends)
            if found.name is not None:
                for owner in owners:
                    who = self._introduced(ends.name_at(found.name), found, owner, ends, words)
                    yield Link(owner, "HAS_RELATIONSHIP", who, "rules:kinship", desc=found.relationship)
                    self._note(found, owner, who, ends)
                    if kind_of(found.relationship) not in {"", "pet"}:
                        self.things.is_person(owner)
            elif len(owners) == 1:
                self._note(found, owners[0], self._relative(found, owners[0], words), ends)
        for name in ends.written:
            if name not in ends.keys:
                ends.know(name, self._name(name, words))

    def _name(self, name: Name, words: Sequence[Word]) -> str:
        kind = _SUBTYPES.get(name.kind)
        label = Label.CONCEPT if name.kind is Kind.AMOUNT else Label.ENTITY
        called = self._called(name, words)
        person = kind is None and (self._folk.is_person(called) or self._folk.is_person(name.text))
        doubtful = name in self._doubtful and not self._folk.is_acting(called)
        guess = kind or ("person" if person and not doubtful else "name")
        key = self.things.thing(called, label, kind, guess, name.span, only_known=doubtful)
        self.people.add(key, name, words, self._folk.gender_of(called), person=person)
        return key

    def _called(self, name: Name, words: Sequence[Word]) -> str:
        return self._folk.full_name(name, words) or written(name)

    def _relative(self, found: Relationship, owner: str, words: Sequence[Word]) -> str:
        """Return the key of somebody whom the sentence names by a relationship alone."""
        span = Span(words[found.first].start, words[found.last].end)
        self.kin.append(Kin(f"kin {len(self.kin)}", owner, found.relationship, span))
        self.people.speak_of(self.kin[-1].key, span.start, gender_of(found.relationship))
        return self.kin[-1].key

    def _note(self, found: Relationship, owner: str, who: str, ends: Ends) -> None:
        ends.relatives[owner, found.relationship] = who
        ends.kin.update(dict.fromkeys(range(found.first, found.last + 1), who))
        self.people.belong(owner, who, found.relationship)

    def _note_pairs(self, words: Sequence[Word], ends: Ends) -> None:
        """Note who are named together: ``Ana and Ben``."""
        for at in range(1, len(words) - 1):
            if words[at].lower == "and" and at - 1 in ends.named and at + 1 in ends.named:
                one, other = ends.called(at - 1), ends.called(at + 1)
                if one is not None and other is not None:
                    self.people.belong(one, other)

    def _introduced(self, name: Name, found: Relationship, owner: str, ends: Ends, words: Sequence[Word]) -> str:
        """Return the key of somebody whom the sentence introduces as a relative."""
        called = self._called(name, words)
        who = ends.keys.get(name) or self.things.relative(called, owner, found.relationship, name.span)
        if who is None:
            who = self._name(name, words)
        else:
            self.people.add(who, name, words, gender_of(found.relationship), person=True)
        ends.know(name, who)
        self.things.note(called, owner, found.relationship, who)
        if found.relationship.rpartition(" ")[2] not in PETS:
            self.things.is_person(who)
        return who

    def _is_quoting(self, sentence: Sentence) -> bool:
        """Tell whether a quotation is open where a sentence begins; none goes beyond its paragraph."""
        before = self._source.text[: sentence.span.start].rpartition("\n\n")[2]
        return before.count('"') % 2 == 1 or before.rfind("“") > before.rfind("”")

    def _owners(self, found: Relationship, words: Sequence[Word], ends: Ends) -> tuple[str, ...]:
        """Return whose relationship it is: the speaker's, a name's, or whom *his*, *her* or *their* means."""
        at = found.owner
        if at >= 0 and words[at].lower == _THEIRS:
            return self.people.theirs(found.relationship, words[at].start)
        owner = self._owner(at, words, ends)
        return (owner,) if owner is not None else ()

    def _owner(self, at: int, words: Sequence[Word], ends: Ends) -> str | None:
        if at in _OWNERS:
            return _OWNERS[at]
        if at in ends.named:
            return ends.called(at)
        if at in ends.kin:
            return ends.kin[at]
        pronoun, start = words[at].lower, words[at].start
        if at >= 2 and words[at - 1].lower == "and" and at - 2 in ends.named:  # Aksel and his daughter
            return self.people.whose(pronoun, start, ends.called(at - 2), plain=True)
        subjects = [ends.of(place) for place in range(at) if words[place].relation.startswith("nsubj")]
        return self.people.whose(pronoun, start, subjects[-1] if subjects else None)


def _unnamed(told: Told, ends: Ends) -> Iterator[tuple[int, str]]:
    """Yield who is spoken of without a name, as a man or a woman: places and ``m`` or ``f``."""
    words = told.words
    for at, word in enumerate(words):
        if word.tag != "NOUN" or at in ends.kin or at in ends.named or (gender := gender_of(word.lower)) is None:
            continue
        following = words[at + 1].lower if at + 1 < len(words) else ""
        if following in _NAMING or at + 1 in ends.named:
            continue
        before = at - 1
        while before > 0 and words[before].tag in _DESCRIBING:
            before -= 1
        if before < 0 or words[before].tag != "AUX":  # who was a woman is no other one
            yield at, gender


def written(name: Name) -> str:
    """Return what is meant by a name: ``./a.py`` is ``a.py``, and ``src\\a.py`` is ``src/a.py``, as in stack traces."""
    if name.kind is Kind.PATH:
        return name.text.replace("\\", "/").removeprefix("./")
    return name.text.removesuffix("()")
