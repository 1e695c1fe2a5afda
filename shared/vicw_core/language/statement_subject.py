"""Whose matter a short English statement is, as far as its first words tell: its speaker's, or another's.

*My sister lives in Porto* says nothing of where the speaker lives, however near it is to the question; *My new flat is
in Porto* does. What the first words do not tell stays as it is.
"""

from __future__ import annotations

import re

from vicw_core.language.statement_words import subject_terms
from vicw_shared.text import fold_case

_MOST_WORDS = 6
_PERSONS = {
    word: group.split()[0]
    for group in (
        "sister stepsister", "brother stepbrother", "sibling", "twin", "mother mum mom mummy mommy stepmother",
        "father dad daddy stepfather", "parent", "son stepson", "daughter stepdaughter", "child kid", "baby",
        "partner wife husband spouse girlfriend boyfriend fiance fiancee", "ex", "uncle", "aunt auntie", "cousin",
        "nephew", "niece", "grandmother grandma granny", "grandfather grandpa", "grandparent", "grandson",
        "granddaughter", "friend mate buddy", "neighbour neighbor", "roommate flatmate housemate", "tenant",
        "landlord landlady", "boss manager", "colleague coworker teammate", "assistant", "teacher tutor",
        "trainer coach", "classmate",
    )
    for word in group.split()
}  # fmt: skip
"""Words of kinship and company, which are persons of their own after *my*, by the first of their meaning."""
_BEGINS = r"\W*(?:(?:well|oh|so|now|and|but|also|actually|today|by the way)\b[\s,]*)?"
_MINE = re.compile(rf"{_BEGINS}my\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_OF_A_PERSON = re.compile(rf"{_BEGINS}(?:she|he|they|her|his|their)\b", re.IGNORECASE)
_OTHER = re.compile(r"\W*(?P<name>[A-Z]\w+)\s+(?P<verb>[a-z]+)\b")
_ASKER = re.compile(r"\bI\b")
_SPEAKER = re.compile(r"\b(?:I|[Ww]e|[Mm]y|[Mm]e|[Oo]urs?|[Uu]s|[Mm]ine|[Mm]yself)\b")
_BE = frozenset("is are was were be been being has have had isn't aren't wasn't weren't hasn't".split())
_WORD = re.compile(r"[\w'’-]+")


def is_of_another(statement: str, other: str, question: str) -> bool:
    """Return whether two statements of one speaker are plainly about two, so that neither answers for the other.

    >>> is_of_another("My sister lives in Porto.", "I live in Lyon.", "Where do I live?")
    True
    >>> is_of_another("My new flat is in Porto.", "I live in Lyon.", "Where do I live?")
    False
    >>> is_of_another("My cafe serves almond milk.", "I like oat milk.", "Which milk do I like?")
    True
    >>> is_of_another("My laptop runs Windows.", "I run Linux on my laptop.", "What do I run?")
    False
    >>> is_of_another("I moved to Lyon.", "My sister lives in Porto.", "Where does my sister live?")
    True
    >>> is_of_another("She moved to Rome.", "My sister lives in Porto.", "Where does my sister live?")
    False
    """
    person, other_person = _person(statement), _person(other)
    if person and other_person:
        return person != other_person
    if person or other_person:
        return _is_of_the_speaker(other if person else statement)
    return _is_of_a_thing(statement, other, question) or _is_of_a_name(statement, other, question)


def _person(statement: str) -> str:
    """Return the word for the person whom a statement begins with; empty: it begins with none."""
    words = _words_after_my(statement)
    subject = words[: max(1, _verb(words))] if words else []
    named = (re.sub(r"['’]s?$|-in-law$", "", word) for word in subject)
    return next(filter(None, (_PERSONS.get(word) or _PERSONS.get(word.removesuffix("s")) for word in named)), "")


def _is_of_the_speaker(statement: str) -> bool:
    return _SPEAKER.search(statement) is not None and _OF_A_PERSON.match(statement) is None


def _is_of_a_thing(statement: str, other: str, question: str) -> bool:
    """Return whether a statement is about what a thing of the speaker's does, which neither other text names."""
    words = _words_after_my(statement)
    verb = _verb(words)
    if not verb or words[verb] in _BE:
        return False
    return subject_terms(" ".join(words[:verb])).isdisjoint(subject_terms(other) | subject_terms(question))


def _is_of_a_name(statement: str, other: str, question: str) -> bool:
    """Return whether a statement is of somebody with a name, while the other and the question are of the speaker."""
    named = _OTHER.match(statement)
    if named is None or named["verb"] in _BE or not _is_verb(named["verb"]) or _SPEAKER.search(statement):
        return False
    if not subject_terms(named["name"]).isdisjoint(subject_terms(other)):
        return False  # whoever the other is about, too
    return bool(_ASKER.search(question) and _ASKER.search(other))


def _words_after_my(statement: str) -> list[str]:
    """Return the first words after the *my* that a statement begins with; none: it does not."""
    mine = _MINE.match(statement)
    return [fold_case(word) for word in _WORD.findall(mine["rest"])[:_MOST_WORDS]] if mine else []


def _verb(words: list[str]) -> int:
    """Return the place of what looks like the verb of a subject in the third person; 0: nothing does."""
    return next((place for place, word in enumerate(words) if place and (word in _BE or _is_verb(word))), 0)


def _is_verb(word: str) -> bool:
    return len(word) > 3 and word.endswith(("s", "ed")) and not word.endswith(("ss", "us", "'s", "’s"))
