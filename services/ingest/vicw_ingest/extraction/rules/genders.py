"""Words that say whether somebody is a man or a woman: pronouns, titles, words for relatives and for people."""

from __future__ import annotations

HE, SHE = frozenset({"he", "him", "his"}), frozenset({"she", "her", "hers"})
_MALE = frozenset(
    "mr mr. sir lord king prince uncle father dad papa brother son husband boyfriend fiancé grandfather grandpa "
    "grandson nephew stepfather stepbrother stepson godfather landlord father-in-law brother-in-law son-in-law "
    "widower man boy gentleman guy lad".split()
)
_FEMALE = frozenset(
    "mrs mrs. ms ms. miss mistress lady queen princess aunt mother mom mum mama sister daughter wife girlfriend "
    "fiancée grandmother grandma granddaughter niece stepmother stepsister stepdaughter godmother landlady "
    "mother-in-law sister-in-law daughter-in-law widow woman girl madam lass".split()
)


def gender_of(what: str) -> str | None:
    """Return ``m`` or ``f`` of whom a title, or a word for a relative, is said.

    >>> gender_of("ex-wife"), gender_of("late father"), gender_of("captain")
    ('f', 'm', None)
    """
    word = what.casefold().rpartition(" ")[2].removeprefix("ex-").removeprefix("half-")
    return "m" if word in _MALE else "f" if word in _FEMALE else None


def gender_meant(pronoun: str) -> str | None:
    """Return whom a pronoun in lower case may mean: ``m`` or ``f``."""
    return "m" if pronoun in HE else "f" if pronoun in SHE else None
