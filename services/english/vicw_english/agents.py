"""Find agents (INITIATED) and person names by the verb and the words before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from vicw_core.language.titles import TITLES
from vicw_english.tagging.analysis import Word

_MODALS = frozenset("would could should might may can must ca wo shall will 'll ’ll going gonna please let".split())
"""Modal words: the action has not happened."""
_INTENTIONS = frozenset(
    "want wants wanted wanting wish wishes wished hope hopes hoped plan plans planned planning intend intends intended "
    "refuse refuses refused need needs needed hesitate hesitates hesitated".split()
)
"""Verbs of intention: with *to*, the action has not happened (``wanted to deploy``; but ``planned the party``)."""
_NEGATIONS = frozenset({"not", "n't", "n’t", "never"})
_BEING = frozenset("is are was were be been am 's 're get gets got".split())
_OF_VERB = frozenset({"AUX", "ADV", "PART"})
_NOT_BEFORE = frozenset({"ADP", "SCONJ", "VERB", "AUX", "PART"})
"""Tags of the word before a name that is not the subject of a main clause."""
_FURTHER = frozenset({"CCONJ", "PUNCT"})
"""Tags of the word before the subject of a further main clause."""
_MAX_WORDS_TO_BY = 4
"""Maximum words from a passive verb to *by*."""
_JOINTS = frozenset({"and", "&", ","})
_ALTERNATIVES = frozenset({"or", "nor"})
_DONE_BY_PEOPLE = (
    "believe love hate feel hope laugh smile cry reply whisper shout marry visit walk ride travel arrive sleep eat "
    "drink cook wear promise forgive agree blame thank apologise joke nod sigh wonder buy sell borrow lend pay teach "
    "study retire live"
).split()
_DONE_BY_TOOLS = "ask want answer call talk move learn work decide refuse explain suggest join".split()
"""Verbs that also describe tools in the present tense: *Compose joins them*. In the past the agent is a person."""
_IRREGULAR = frozenset(
    "said told thought felt met wrote spoke rode drove sat stood slept ate drank wore held understood forgot forgave "
    "knew left bought sold lent paid taught wept says thinks".split()
)


def _past(verb: str) -> str:
    return f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb[-2:] in {"ry", "ly", "dy"} else f"{verb}ed"


_BY_PEOPLE = (
    _IRREGULAR
    | {f"{verb}s" for verb in _DONE_BY_PEOPLE}
    | {_past(verb) for verb in (*_DONE_BY_PEOPLE, *_DONE_BY_TOOLS)}
)


def agents_of(
    words: Sequence[Word], named: Mapping[int, range], begins: Collection[int] = ()
) -> Iterator[tuple[int, int]]:
    """Yield the word positions (agent, verb) of every main clause that reports an action.

    An agent is a pronoun or the last word of a name; ``named`` maps a word position to the positions of its name.
    ``begins`` are the positions at which further clauses begin. Negated, wished or future actions do not count,
    and states (``Ana is tall``) have no agent. A question has none.
    """
    if not words or words[-1].text == "?":
        return
    first = True
    for verb, word in enumerate(words):
        if word.tag != "VERB":
            continue
        start = verb
        while start > 0 and words[start - 1].tag in _OF_VERB and words[start - 1].lower != "to":
            start -= 1
        helping = {helper.lower for helper in words[start:verb]}
        is_first, first = first, False
        to = verb + 1 < len(words) and words[verb + 1].lower == "to"
        if helping & (_MODALS | _NEGATIONS) or (word.lower in _INTENTIONS and to):
            continue
        if helping & _BEING and not word.lower.endswith("ing"):
            by = next(
                (at for at in range(verb + 1, min(verb + _MAX_WORDS_TO_BY, len(words))) if words[at].lower == "by"),
                None,
            )
            if by is not None and by + 1 < len(words):
                yield (named[by + 1][-1] if by + 1 in named else by + 1), verb
        else:
            yield from ((agent, verb) for agent in _subjects(words, named, start, begins, is_first=is_first))


def _subjects(
    words: Sequence[Word], named: Mapping[int, range], end: int, begins: Collection[int], *, is_first: bool
) -> list[int]:
    """Return the positions of the pronoun, or of the names' last words, before a verb; none if joined by *or*."""
    subjects: list[int] = []
    at = end - 1
    while at >= 0 and (at in named or (not subjects and words[at].tag == "PRON")):
        subjects.append(at)
        start = named[at][0] if at in named else at
        at = start - 1
        if at >= 0 and words[at].lower in _ALTERNATIVES:
            return []
        joint = at
        while joint > 0 and words[joint].lower in _JOINTS:
            joint -= 1
        if joint == at or joint not in named or _is_behind(words, named[joint][0], "ADP"):
            break
        at = joint
    if not subjects:
        return []
    start = named[subjects[-1]][0] if subjects[-1] in named else subjects[-1]
    before = words[start - 1].tag if start > 0 and start not in begins else "PUNCT"
    return subjects if before not in _NOT_BEFORE and (is_first or before in _FURTHER) else []


def is_person(words: Sequence[Word], name: range) -> bool:
    """Return whether a title, or the verb after it, marks a name as a person's."""
    first, behind = name[0], name[-1] + 1
    if any(ch.isdigit() for word in words[first:behind] for ch in word.text):
        return False
    before = words[first - 1].lower if first > 0 else ""
    if before in TITLES or (words[first].lower in TITLES and len(name) > 1):
        return True
    if before in {"the", "a", "an"} or _is_behind(words, first, "ADP"):
        return False
    while behind < len(words) and words[behind].tag in {"ADV", "AUX"}:
        behind += 1
    verb = words[behind] if behind < len(words) else None
    return verb is not None and verb.lower in _BY_PEOPLE and verb.tag == "VERB"


def _is_behind(words: Sequence[Word], position: int, tag: str) -> bool:
    return position > 0 and words[position - 1].tag == tag
