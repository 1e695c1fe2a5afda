"""Who did it: the plain subjects of a sentence's main clauses (INITIATED)."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_ingest.extraction.rules.clauses import Clause, Phrases
from vicw_ingest.extraction.rules.relationships import QUALIFYING, RELATIONSHIPS
from vicw_shared.language.analysis import Word

_MODALS = frozenset("would could should might may can must ca wo shall will 'll ’ll going gonna please let".split())
"""What is said with these is not done, or not yet."""
_WISHING = frozenset(
    "want wants wanted wanting wish wishes wished hope hopes hoped plan plans planned planning intend intends intended "
    "refuse refuses refused need needs needed hesitate hesitates hesitated".split()
)
"""Verbs of what is not done yet, or never: ``wanted to deploy``. With a noun (``planned the party``) it is done."""
_LEFT_OPEN = frozenset({"or", "nor"})
_MAIN = frozenset({"root", "conj", "parataxis"})


def agents_of(phrases: Phrases, clauses: list[Clause]) -> Iterator[tuple[int, int]]:
    """Yield (agent, verb) of every clause that tells of something done: places of words in the sentence.

    What is denied was not done, and what is merely the case (``Ana is tall``) nobody does.
    """
    words = phrases.words
    if words and words[-1].text == "?":
        return
    for clause in clauses:
        if phrases.words[clause.verb].tag != "VERB" or clause.negated or _is_mere(phrases.words, clause):
            continue
        agent = _agent(phrases.words, clause)
        if agent is not None:
            yield from ((each, clause.verb) for each in _all_of(words, agent, clause))


def is_main(words: tuple[Word, ...], verb: int) -> bool:
    """Tell whether a clause stands by itself: it is the sentence's own, or one beside it."""
    while words[verb].relation in _MAIN:
        if words[verb].head < 0:
            return True
        verb = words[verb].head
    return False


def _agent(words: tuple[Word, ...], clause: Clause) -> int | None:
    if clause.passive:
        by = clause.object
        return by if by is not None and words[by].relation == "obl:agent" else None
    return clause.subject if clause.subject is not None else _before(words, clause) or _described(words, clause)


def _before(words: tuple[Word, ...], clause: Clause) -> int | None:
    """Return a name that stands right before a verb without a subject, hidden by what comes first (``At dawn``)."""
    first = min(clause.verb_words)
    fronted = words[0].tag in {"ADP", "ADV", "SCONJ"} and words[clause.verb].relation == "root"
    return first - 1 if fronted and first > 1 and words[first - 1].tag == "PROPN" else None


def _described(words: tuple[Word, ...], clause: Clause) -> int | None:
    """Return a name at the start that is described between commas: ``Jonas, Liv's husband, drove``, ``Ana, the cook,``.

    The analysis takes it for somebody who is spoken to.
    """
    name, end = _name_behind(words), min(clause.verb_words)
    while end > 0 and words[end - 1].tag == "ADV":
        end -= 1
    inside = words[name + 1 : end - 1]
    if words[clause.verb].relation != "root" or name == 0 or not inside:
        return None
    if words[name].text != "," or words[end - 1].text != "," or any(word.text == "," for word in inside):
        return None
    says_who = inside[0].tag == "DET" or any(word.lower in RELATIONSHIPS for word in inside)
    return name - 1 if says_who and not any(word.tag in {"VERB", "AUX"} for word in inside) else None


def _name_behind(words: tuple[Word, ...]) -> int:
    """Return where the name ends that a sentence begins with; 0 if it begins with none."""
    end = 0
    while end < len(words) and words[end].tag == "PROPN":
        end += 1
    return end


def _all_of(words: tuple[Word, ...], agent: int, clause: Clause) -> list[int]:
    """Return an agent and who is named beside it (``Ana and Ben deployed``); none where *or* leaves it open."""
    every = [agent]
    for at in range(agent + 1, clause.verb if clause.verb > agent else len(words)):
        if words[at].relation == "conj" and words[at].head in every:
            every.append(at)
    every = sorted({*every, *_enumerated(words, agent, clause)})
    between = {word.lower for word in words[every[0] : every[-1]]}
    return [] if between & _LEFT_OPEN else every


def _enumerated(words: tuple[Word, ...], agent: int, clause: Clause) -> list[int]:
    """Return the last words of the names of a list before a verb (``Ana, Eva and Ben deployed``) that has the agent.

    The analysis often takes the first, or the last, for something beside the list: ``Ana, [Eva and Ben deployed]``.
    """
    end = min(clause.verb_words)
    while end > 0 and words[end - 1].tag == "ADV":
        end -= 1
    names: list[int] = []
    first, joined = end, False
    while (start := _name_before(words, first)) < first:
        if start > 0 and words[start - 1].tag == "ADP":
            break  # In Porto, Ana and Eva left: no part of the list
        names.append(first - 1)
        first = start if len(names) > 1 else _relative_start(words, start)
        joints = {"and", "&", *_LEFT_OPEN} if len(names) == 1 else {","}
        if first == 0 or words[first - 1].lower not in joints:
            break
        joined = True
        first -= 2 if len(names) == 1 and first > 1 and words[first - 2].text == "," else 1
    return names if joined and agent in range(first, end) else []


def _relative_start(words: tuple[Word, ...], start: int) -> int:
    """Return where a name begins with what it is to the one before: ``Aksel and [his daughter Liv]``."""
    owned = start - 1
    while owned > 0 and words[owned].lower in RELATIONSHIPS | QUALIFYING:
        owned -= 1
    return owned if 0 < owned < start - 1 and words[owned].relation == "nmod:poss" else start


def _name_before(words: tuple[Word, ...], end: int) -> int:
    """Return where the name begins that ends before a place; that place if none does."""
    start = end
    while start > 0 and words[start - 1].tag == "PROPN":
        start -= 1
    return start


def _is_mere(words: tuple[Word, ...], clause: Clause) -> bool:
    """Tell whether a clause only speaks of what would, could or should be done, or will be."""
    first = min(clause.verb_words)
    asked = words[first].relation == "root" and words[clause.verb].text == words[0].text and clause.subject is None
    if words[clause.verb].lower in _WISHING and any(
        word.head == clause.verb and word.relation in {"xcomp", "ccomp"} for word in words
    ):
        return True
    return asked or any(words[at].lower in _MODALS for at in range(max(first - 1, 0), clause.verb + 1))
