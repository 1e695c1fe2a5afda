"""Which thread a chat's turn goes on with, where nobody says so: topics that interleave are kept apart.

A turn belongs to the thread whose latest turns it shares words with, or to the one before it if it answers that one or
says too little by itself; words such as *by the way* begin another. Words that are in many of the latest turns tell
nothing apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from math import log, sqrt

import Stemmer

_WORD = re.compile(r"[^\W\d_][\w'’.-]*\w|\d[\w.:/-]+")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w.-]+|\w*[\d_/.]\w+[\w./-]*")
_AWAY = re.compile(
    r"^\W*(?:by the way|btw|on (?:another|a different) (?:note|topic)|unrelated|off[- ]topic|changing the subject|"
    r"different (?:topic|question|subject)|before i forget|oh,? (?:and|also|before)|speaking of|apropos|new topic)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"^\W*(?:(?:but |so |ok(?:ay)?,? |anyway,? )*(?:back to|regarding|about|as for|concerning|re:|returning to))\s+"
    r"(?P<what>[^.:,!?]{2,60})",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"^\W*(?:(?:and|so|ah|oh|ok(?:ay)?),? )*(?:that(?:['’]s| is| was) (?:why|how come)|this is why|which is why|"
    r"therefore|hence|because of (?:that|this)|(?:that|this|it) (?:led to|caused)|"
    r"as a result\b(?! of)|for (?:that|this) reason)\b",
    re.IGNORECASE,
)
_ADDRESSING = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_STOPS = frozenset(
    "a about actually after again ago all almost also am an and any anyway are around as ask at away back be "
    "because been before being bit both but by bye call came can come could day did do does doing don done down "
    "each else even ever every everyone everything feel few fine first for from get give go going gone gonna good "
    "got great guess had has have having he hello help her here hers hey hi him his hope how i if in into is it "
    "its just keep kind know last later less let like little ll long look lot love lovely made make many may "
    "maybe me mean might mine more morning most much must my need never new next nice no not nothing now of off "
    "oh ok okay old on once one only or other our out over own please pretty probably put quite re really right "
    "said same saw say see seem she should since so some someone something soon sorry sound still stuff sure take "
    "talk tell than thank thanks that the their them then there these they thing things think this those though "
    "three through time to today tomorrow tonight too try two under until up us use very wait want was way we "
    "week well were what when where which while who why will wish with won wonder work would wow yeah year yes "
    "yesterday yet you your".split()
)
_HALF_LIFE = 15
"""Turns after which a word that is said again counts half."""
_JOINS = 0.1
_NAMED = 0.15
_FOLLOWS, _ANSWERS, _SAYS_LITTLE = 0.06, 0.25, 0.30
_CONCLUDED = 0.25
_ASIDES = 3
"""How many turns of others may come between what somebody says and what they conclude from it."""
_LITTLE = 2.0
_NAME_WEIGHT = 2.0
_stemmer = Stemmer.Stemmer("english")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said in a chat; ``thread`` is None while it is not known."""

    thread: str | None
    speaker: str | None
    text: str
    at: datetime


def joins(turn: Turn, recent: Sequence[Turn]) -> str | None:
    """Return the thread that a turn goes on with, of those of ``recent`` turns, the latest last; None: a new one."""
    if not recent:
        return None
    # A name begins a sentence in one turn, and stands inside of one in another.
    names = {name.casefold() for one in (*recent, turn) for name in _NAME.findall(one.text)}
    said = _content(turn.text, names)
    others = [_content(other.text, names) for other in recent]
    common = Counter(word for words in others for word in words)
    scores: dict[str, float] = {}
    for back, (other, words) in enumerate(zip(reversed(recent), reversed(others), strict=True)):
        if other.thread is not None:
            alike = _alike(said, words, common, len(recent)) * 0.5 ** (back / _HALF_LIFE)
            scores[other.thread] = max(scores.get(other.thread, 0.0), alike)
    for name, thread in _owners(recent, others).items():
        if name in said:
            scores[thread] += _NAMED
    asked_back = _BACK.match(turn.text)
    if asked_back is not None:
        return _named(asked_back["what"], recent, others) or _best(scores)
    if _AWAY.match(turn.text):
        return None
    last = _gone_on_from(turn, recent)
    if last.thread is not None:
        elsewhere = max((score for name, score in scores.items() if name != last.thread), default=0.0)
        scores[last.thread] += _adjacent(turn, last, said) * (1 - min(elsewhere, 1))
    return _best(scores) or (last.thread if _weight(said) <= _LITTLE else None)


def _best(scores: dict[str, float]) -> str | None:
    thread = max(scores, key=lambda name: scores[name], default=None)
    return thread if thread is not None and scores[thread] >= _JOINS else None


def _adjacent(turn: Turn, last: Turn, said: dict[str, float]) -> float:
    """Return what it counts that a turn comes right after another: most, if it answers or says little by itself."""
    score = _FOLLOWS
    asked = last.text.rstrip().endswith("?") and not turn.text.rstrip().endswith("?")
    if asked and last.speaker != turn.speaker:
        score += _ANSWERS
    if _weight(said) <= _LITTLE:
        score += _SAYS_LITTLE
    if _CONCLUDES.match(turn.text):
        score += _CONCLUDED
    return score


def _gone_on_from(turn: Turn, recent: Sequence[Turn]) -> Turn:
    """Return the turn that one goes on with if nothing else tells: the last, or the own one that it concludes from.

    Only over what others say aside (*by the way*), and if what is concluded is not addressed to them.
    """
    if _CONCLUDES.match(turn.text) and not _ADDRESSING.search(turn.text):
        for other in reversed(recent[-_ASIDES - 1 :]):
            if other.speaker == turn.speaker:
                return other
            if not _AWAY.match(other.text):
                break
    return recent[-1]


def _named(what: str, recent: Sequence[Turn], others: Sequence[dict[str, float]]) -> str | None:
    """Return the thread in which something was last spoken of."""
    wanted = _content(what, frozenset()).keys()
    for other, words in zip(reversed(recent), reversed(others), strict=True):
        if wanted & words.keys():
            return other.thread
    return None


def _owners(recent: Sequence[Turn], others: Sequence[dict[str, float]]) -> dict[str, str]:
    """Return the names that one thread alone has spoken of, with that thread."""
    threads: dict[str, set[str]] = {}
    for turn, words in zip(recent, others, strict=True):
        for word, weight in words.items():
            if weight == _NAME_WEIGHT and turn.thread is not None:
                threads.setdefault(word, set()).add(turn.thread)
    return {word: next(iter(of)) for word, of in threads.items() if len(of) == 1}


def _content(text: str, names: Set[str]) -> dict[str, float]:
    """Return the stems of the words that tell of something, with their weights: ``names`` count double."""
    found: dict[str, float] = {}
    for word in _WORD.findall(text):
        folded = word.casefold().removesuffix("'s").removesuffix("’s")
        if folded.split("'")[0].split("’")[0] not in _STOPS and len(folded) > 2:
            found[_stemmer.stemWord(folded)] = _NAME_WEIGHT if folded in names else 1.0
    return found


def _weight(words: dict[str, float]) -> float:
    return sum(words.values())


def _alike(one: dict[str, float], two: dict[str, float], common: Counter[str], turns: int) -> float:
    """Return how much two turns share, 0 to 1: a cosine of words, those counting less that many turns have."""
    if not one or not two:
        return 0.0
    idf = {word: log(1 + turns / common[word]) for word in two if word in one}
    shared = sum(one[word] * two[word] * idf[word] for word in idf)
    return shared / (sqrt(_weight(one) * _weight(two)) * log(1 + turns))
