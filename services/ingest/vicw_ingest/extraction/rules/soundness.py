"""Which places of a cue are none: where its words are nouns, tell of ways and times, or are denied, asked or quoted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vicw_ingest.extraction.rules.happenings import goes_wrong, happens
from vicw_shared.language.analysis import Word
from vicw_shared.language.times import MONTHS, WEEKDAYS

_QUOTES = frozenset("\"'“”‘’`")
_NEGATIONS = frozenset({"not", "n't", "n’t", "never"})
_ABLE = frozenset({"can", "ca", "could", "able", "cannot"})
_NOW = frozenset("do does is are am 's ’s 're ’re 'm ’m has have 've ’ve will wo 'll ’ll".split())
"""What is denied with these is so now, or will be; of the past (*did not*) either may be meant."""
_MERELY = frozenset({"just", "only", "simply", "merely", "solely"})
_REASONS = frozenset({"because", "due", "owing", "since", "bc", "cuz", "coz", "as", "on", "thanks"})
_NOUNS_TOO = frozenset("results leads causes triggers sparks prompts result lead".split())
_WAYS = frozenset({"lead", "leads", "led", "leading"})
_STOPS_NOUN = frozenset({"PUNCT", "SCONJ", "ADP"})
_STOPS_PHRASE = frozenset({"PUNCT", "SCONJ", "CCONJ", "VERB", "AUX"})
_RELATIVES = frozenset({"which", "that", "who", "where", "when"})
_BEFORE_NOUN = frozenset({"DET", "ADJ", "ADP", "NUM"})
_HEDGES = frozenset(
    "might may could maybe perhaps possibly probably likely seems seem seemed apparently suspect".split()
)
_HAVING = frozenset({"has", "have", "'ve", "’ve", "'s", "’s"})
_SPANS_OF_TIME = frozenset(
    "year years month months week weeks weekend day morning noon evening night spring summer autumn winter christmas "
    "easter yesterday then last early late childhood birth".split()
)
_TIMES = frozenset({*MONTHS, *WEEKDAYS, *_SPANS_OF_TIME})
_DOUBTED = 0.5
"""The most certain that a cause can be of which a sentence says that it may be one."""


def is_sound(words: Sequence[Word], first: int, end: int) -> bool:
    """Tell whether the words of a cue, ``[first, end)``, can join a cause and an effect where they stand."""
    if _is_quoted(words, first, end) or _is_noun(words, first) or _is_denied(words, first):
        return False
    if end < len(words) and words[end - 1].lower in {"of", "to"} and words[end].tag == "AUX":
        return False  # "because of" is spoken of, not said
    if first > 0 and words[first - 1].lower == "so" and words[first].lower in _REASONS:
        return False  # "I think so because …": what the reason is for is told elsewhere
    return words[first].lower not in _WAYS or _can_cause(words, first, end)


def certainty_of(words: Sequence[Word], certainty: float) -> float:
    """Return how certain a cue makes a cause in its sentence: ``may``, ``perhaps`` and the like make it doubtful."""
    doubtful = any(
        word.lower in _HEDGES
        and word.tag != "PROPN"
        and not (word.lower == "could" and _denies(words[at + 1 : at + 2]))
        for at, word in enumerate(words)
    )
    return min(certainty, _DOUBTED) if doubtful else certainty


def _denies(words: Sequence[Word]) -> bool:
    return any(word.lower in _NEGATIONS for word in words)


def is_question(words: Sequence[Word]) -> bool:
    """Tell whether a sentence asks."""
    ending = next((word.text for word in reversed(words) if word.text not in _QUOTES and word.text != ")"), "")
    return ending.startswith("?") or ending.endswith("?")


def is_time(words: Sequence[Word], place: int) -> bool:
    """Tell whether ``since``, at a place, tells of a time: a date follows, or the other clause has a perfect tense."""
    behind = words[place + 1 : place + 3]
    if not behind or behind[0].tag == "NUM" or any(word.lower in _TIMES for word in behind):
        return True
    comma = next((at for at in range(place, len(words)) if words[at].text == ","), len(words))
    other = words[:place] if place > 0 else words[comma:]
    return any(
        word.lower in _HAVING
        and any(verb.relation != "det" and _is_participle(verb) for verb in other[at + 1 : at + 4])
        for at, word in enumerate(other)
        if word.tag == "AUX"
    )


def _is_participle(word: Word) -> bool:
    return word.lower == "been" or (
        word.tag == "VERB" and word.lower.endswith(("ed", "en", "wn", "lt", "pt", "ne", "ad"))
    )


def _is_quoted(words: Sequence[Word], first: int, end: int) -> bool:
    return first > 0 and end < len(words) and words[first - 1].text in _QUOTES and words[end].text in _QUOTES


def _is_noun(words: Sequence[Word], first: int) -> bool:
    """Tell whether a verb of the table is a noun here: ``the results in the table``."""
    word = words[first]
    if word.tag != "NOUN" or word.lower not in _NOUNS_TOO:
        return False
    if "".join(behind.tag for behind in words[first + 1 : first + 2]) == "DET":
        return False  # an article begins what the verb is done to
    return first == 0 or words[first - 1].tag in _BEFORE_NOUN or word.relation.startswith("nsubj")


def _is_denied(words: Sequence[Word], first: int) -> bool:
    """Tell whether a cue is denied, or may be: ``did not break because …`` leaves open which of both is not so.

    A comma settles that the reason is what holds; so do that somebody could not, and that something does not work.
    """
    start = max(
        (at + 1 for at in range(first) if words[at].tag == "PUNCT" and words[at].text not in _QUOTES), default=0
    )
    before = words[start:first]
    denied = [at for at, word in enumerate(before) if word.lower in _NEGATIONS]
    if not denied:
        return False
    if words[first].tag == "VERB" or denied[-1] == len(before) - 1:
        return denied[-1] >= len(before) - 3
    if words[first].lower not in _REASONS:
        return False
    return not any(word.lower in _ABLE for word in before) and not _does_not_go(words, start + denied[-1], first)


def _does_not_go(words: Sequence[Word], negation: int, first: int) -> bool:
    """Tell whether it is so that something does not work: ``does not respond because …``, a state with a reason.

    What does *not fail* because of something may do so because of something else, which often follows with *but*.
    """
    denied = [word for word in words[negation + 1 : first] if word.tag in {"VERB", "ADJ"}][:1]
    is_so = negation > 0 and words[negation - 1].lower in _NOW
    instead = any(word.lower == "but" and behind.lower in _REASONS for word, behind in pairwise(words[first:]))
    return is_so and bool(denied) and not goes_wrong(denied) and words[first - 1].lower not in _MERELY and not instead


def _can_cause(words: Sequence[Word], first: int, end: int) -> bool:
    """Tell whether what leads somewhere is no road: either end of it names something that happens."""
    subject = _subject(words, first)
    return happens(_noun_phrase(words, end)) or not subject or happens(subject)


def _noun_phrase(words: Sequence[Word], start: int) -> Sequence[Word]:
    stops = (
        at
        for at in range(start, len(words))
        if (words[at].tag in _STOPS_NOUN and words[at].lower != "of")
        or words[at].lower in _RELATIVES
        or (words[at].tag == "AUX" and words[at].lower != "being")
    )
    return words[start : next(stops, len(words))]


def _subject(words: Sequence[Word], verb: int) -> Sequence[Word]:
    """Return the phrase before a verb, of its clause: a relative's is what it refers to."""
    stop = verb
    while stop > 0 and (words[stop - 1].lower in _RELATIVES or words[stop - 1].tag in {"AUX", "ADV", "PUNCT"}):
        stop -= 1
    if stop < verb and any(word.text == "," for word in words[stop:verb]):
        return words[:stop]  # ", which led to": all that was said
    if stop == 0:
        return words[:verb]
    return words[phrase_start(words, stop) : stop] or words[:stop]


def phrase_start(words: Sequence[Word], stop: int) -> int:
    """Return where the noun phrase begins that ends before ``stop``, with what describes its noun from behind."""
    ends = (at + 1 for at in range(stop) if words[at].tag in _STOPS_PHRASE and words[at].relation != "amod")
    return max(ends, default=0)
