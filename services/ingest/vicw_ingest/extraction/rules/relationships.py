"""The words for who is whose: which name one relationship, and which say that two of one name are two persons."""

from __future__ import annotations

_KINDS = {
    "parent": "mother father mom mum dad mama papa parent",
    "child": "daughter son child",
    "sibling": "sister brother twin sibling",
    "spouse": "wife husband widow widower spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend",
    "grandparent": "grandmother grandfather grandma grandpa",
    "grandchild": "granddaughter grandson",
    "parent's sibling": "aunt uncle",
    "sibling's child": "niece nephew",
    "cousin": "cousin",
    "stepparent": "stepmother stepfather",
    "stepsibling": "stepsister stepbrother",
    "stepchild": "stepson stepdaughter",
    "godparent": "godmother godfather",
    "pet": "dog cat puppy kitten horse parrot",
    "": "friend roommate flatmate housemate neighbour neighbor boss manager supervisor colleague coworker teammate "
    "assistant mentor mentee teacher student tutor coach doctor therapist dentist lawyer accountant landlord landlady "
    "tenant client",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_SAME = {
    "mom": "mother", "mum": "mother", "mama": "mother", "dad": "father", "papa": "father",
    "grandma": "grandmother", "grandpa": "grandfather", "neighbor": "neighbour",
    "fiance": "fiancé", "fiancee": "fiancée",
}  # fmt: skip
_IN_LAW = "-in-law"
_SHARED = {
    "sibling": frozenset({"sibling", "parent", "grandparent", "parent's sibling", "cousin"}),
    "spouse": frozenset({"child", "grandchild"}),
}
"""What relatives of a kind have in common: siblings have the same parents."""

RELATIONSHIPS = frozenset(_KIND_OF)
QUALIFYING = frozenset(
    "best old older oldest eldest younger youngest little big elder twin former current new late dear good close "
    "beloved only first second ex".split()
)
"""What stands before a word for a relationship."""
PETS = frozenset(_KINDS["pet"].split())
PERSONAL = frozenset(
    "friend roommate flatmate housemate boss colleague coworker teammate mentor mentee landlady".split()
)
"""Besides the family, whom only a person has: companies have managers and clients."""


def canonical(relationship: str) -> str:
    """Return a relationship in the one form that all words for it have.

    Who is somebody's by blood stays so: a late father is the father. A late husband is no husband, who may be another.

    >>> canonical("late father"), canonical("Mom"), canonical("late husband")
    ('father', 'mother', 'late husband')
    """
    word = relationship.casefold()
    if word.startswith("late ") and kind_of(word) not in {"", "spouse"}:
        word = word.removeprefix("late ")
    return _SAME.get(word, word)


def kind_of(relationship: str) -> str:
    """Return which place in a family a relationship is; empty for those of work and friendship, which overlap."""
    word = relationship.casefold().rpartition(" ")[2].removeprefix("ex-").removeprefix("half-")
    kind = _KIND_OF.get(word.removesuffix(_IN_LAW), "")
    return f"{kind} in law" if kind and word.endswith(_IN_LAW) else kind


def shares(between: str, relationship: str) -> bool:
    """Tell whether those who are ``between`` each other have whom a relationship names in common: sisters a mother."""
    return kind_of(relationship) in _SHARED.get(kind_of(between), ())


def excludes(relationship: str, other: str) -> bool:
    """Tell whether nobody is both to one and the same person: no sister is a cousin, a wife may be a colleague."""
    one, two = kind_of(relationship), kind_of(other)
    return one != two and not {one, two} <= {"", "spouse"}
