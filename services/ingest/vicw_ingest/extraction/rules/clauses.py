"""Who does what to what: the clauses of an analysed sentence, each with its subject, verb and object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.language.analysis import Sentence, Word

_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "csubj"})
_OBJECTS = ("obj", "ccomp", "xcomp", "obl:agent", "obl", "iobj")
"""What is taken as the object, the best first."""
_ASIDE = frozenset({"acl:relcl", "advcl", "appos", "parataxis", "punct", "conj", "cc", "discourse", "vocative"})
"""Dependents that are no part of a name or phrase: what is said besides of it."""
_OF_THE_VERB = frozenset({"aux", "aux:pass", "cop", "compound:prt"})
_NEGATIONS = frozenset({"not", "n't", "n’t", "never"})
_PASSIVE = frozenset("is are was were be been being am 's 're get gets got getting".split())
_SHARING = frozenset({"conj", "xcomp", "advcl"})
"""A clause without a subject of its own has that of the clause it hangs on."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause; numbers are places of words in its sentence.

    ``verb`` is its main word (a copula's predicate), ``verb_words`` that with its auxiliaries, negation and
    particle. ``subject`` and ``object`` are heads of phrases; see ``phrase``.
    """

    verb: int
    verb_words: tuple[int, ...]
    subject: int | None
    object: int | None
    passive: bool
    negated: bool
    shared_subject: bool
    """Whether the subject stands in another clause."""


class Phrases:
    """The phrases of one sentence: what hangs below each of its words."""

    def __init__(self, sentence: Sentence) -> None:
        self.words = sentence.words
        self._below: Mapping[int, list[int]] = _below(sentence.words)

    def phrase(self, place: int) -> tuple[int, ...]:
        """Return the words of a phrase, in order, given its head: without what is said besides of it."""
        found, open_ = {place}, [place]
        while open_:
            at = open_.pop()
            for child in self._below[at]:
                if self.words[child].relation not in _ASIDE:
                    found.add(child)
                    open_.append(child)
        return tuple(sorted(found))

    def text(self, place: int, *, bare: bool = False) -> str:
        """Return a phrase as it is written; ``bare`` leaves out what marks it, as a preposition."""
        marks = {"case", "mark"} if bare else set()
        kept = [at for at in self.phrase(place) if self.words[at].relation not in marks or at > place]
        return _written(self.words[at] for at in kept)

    def clauses(self) -> Iterator[Clause]:
        """Yield the clauses, in the order of their main words."""
        subjects: dict[int, int] = {}
        for place in self._by_depth():
            clause = self._clause(place, subjects)
            if clause is not None:
                if clause.subject is not None:
                    subjects[place] = clause.subject
                yield clause

    def _by_depth(self) -> list[int]:
        """Return all places so that a head comes before what hangs on it."""
        order = [place for place, word in enumerate(self.words) if word.head < 0]
        for place in order:
            order.extend(self._below[place])
        return order

    def _clause(self, place: int, subjects: Mapping[int, int]) -> Clause | None:
        word, children = self.words[place], self._below[place]
        relations = {self.words[child].relation for child in children}
        if not (word.tag == "VERB" or "cop" in relations or (word.tag == "AUX" and word.relation == "root")):
            return None
        own = next((child for child in children if self.words[child].relation in _SUBJECTS), None)
        shared = own is None and word.relation in _SHARING and word.head in subjects
        if own is not None and self.words[own].tag == "PRON" and self.words[own].lower in {"that", "which", "who"}:
            own = word.head if word.relation == "acl:relcl" else own
        negated = any(self.words[child].lower in _NEGATIONS for child in children)
        return Clause(
            place,
            tuple(sorted({place, *(child for child in children if self._is_of_the_verb(child))})),
            subjects[word.head] if shared else own,
            self._object(place, children),
            self._is_passive(place, relations, children),
            negated,
            shared,
        )

    def _is_passive(self, place: int, relations: set[str], children: Sequence[int]) -> bool:
        """Tell whether a clause is in the passive: by a form of *be*, since *had lost* may be taken for one."""
        helping = {self.words[child].lower for child in children if child < place} & _PASSIVE
        return bool(helping) and ("nsubj:pass" in relations or "aux:pass" in relations)

    def _is_of_the_verb(self, child: int) -> bool:
        word = self.words[child]
        return word.relation in _OF_THE_VERB or word.lower in _NEGATIONS

    def _object(self, place: int, children: Sequence[int]) -> int | None:
        for relation in _OBJECTS:
            for child in children:
                if self.words[child].relation == relation and child > place:
                    return child
        return None


def _below(words: Sequence[Word]) -> Mapping[int, list[int]]:
    below: dict[int, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        if word.head >= 0:
            below[word.head].append(place)
    return below


def _written(words: Iterator[Word]) -> str:
    text, end = "", None
    for word in words:
        text += ("" if end is None or word.start == end else " ") + word.text
        end = word.end
    return text
