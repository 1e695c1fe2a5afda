"""Thread detection: the thread that a chat turn continues, with interleaved topics kept apart.

A turn scores for a thread that alone shares its words, in which another speaker spoke last, or whose question it
answers. Phrases such as *by the way* start a new thread. With little evidence the turn continues an existing thread:
chats of one topic are more common than mixed ones. Figures: docs/bench.md, "Extraction".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime

import Stemmer

_WORD = re.compile(r"[^\W\d_][\w'’.-]*\w|\d[\w.:/-]+")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w.-]+|\w*[\d_/.]\w+[\w./-]*")
_AWAY = re.compile(
    r"^\W*(?:[^.!?]{0,25}[.!] )?(?:by the way|btw|on (?:another|a different) (?:note|topic)|(?:totally )?unrelated|"
    r"off[- ]topic|changing the subject|(?:a )?different (?:topic|question|subject)|before i (?:forget|look|answer|go)|"
    r"oh,? (?:and|also|before)|also,? (?:are|did|do|have|has|can|could|who|when|where) (?!it|that|this|they)|"
    r"speaking of|apropos|new topic|(?:one more|another) (?:thing|question)|(?:quick|different) question|"
    r"(?:hey|hi|so|sorry)?,? ?(?:has|does|did|can) any(?:one|body)|i need (?:some |your )?advice|guess what)\b",
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
_PRONOUNS = re.compile(
    r"\b(?:it|its|they|them|he|him|his|she|her|that|this|those|these|one|there|then|so|too|either|both|another)\b",
    re.IGNORECASE,
)
_HALF_LIFE = 20
"""Turns after which a repeated word counts half."""
_ASIDES = 3
"""Maximum number of others' turns between a speaker's turn and the conclusion that the speaker draws from it."""
_FEW_WORDS = 2.0
_NAME_WEIGHT = 2.0
# Weights for a thread, and for a new one, in log odds: chosen on chats labelled by hand (docs/bench.md).
_SHARES, _MOST_SHARED = 3.1, 3.0
_LAST = 0.5
_SPEAKS_AGAIN = -1.5
_SAYS_LITTLE, _ANSWERS = 1.3, 1.2
_CONCLUDED = 4.0
_NEW, _ASKS_ANEW, _POINTS_BACK, _TOO_LITTLE = -1.5, 1.4, -1.4, -1.8
_stemmer = Stemmer.Stemmer("english")


@dataclass(frozen=True, slots=True)
class ThreadTurn:
    """A turn of a chat. ``thread`` is None while unknown."""

    thread: str | None
    speaker: str | None
    text: str
    at: datetime


def matching_thread(turn: ThreadTurn, recent: Sequence[ThreadTurn]) -> str | None:
    """Return the thread of ``recent`` (latest turn last) that a turn continues, or None for a new thread."""
    if not recent:
        return None
    # A name may begin a sentence in one turn and stand inside one in another, so names are shared by all turns.
    names = {name.casefold() for one in (*recent, turn) for name in _NAME.findall(one.text)}
    content = _content(turn.text, names)
    contents = [_content(other.text, names) for other in recent]
    back_reference = _BACK.match(turn.text)
    if (
        back_reference is not None
        and (referenced := _thread_named(back_reference["what"], recent, contents)) is not None
    ):
        return referenced
    if back_reference is None and _AWAY.match(turn.text):
        return None
    shared = _shared(content, recent, contents)
    scores = {
        thread: _SHARES * min(shared[thread], _MOST_SHARED) + _reply_score(turn, content, turns_since, recent)
        for thread, turns_since in _latest(recent).items()
    }
    if (own := _default_predecessor(turn, recent).thread) is not None and _CONCLUDES.match(turn.text):
        scores[own] += _CONCLUDED
    best = max(scores, key=lambda thread: scores[thread], default=None)
    return best if best is not None and scores[best] >= _new_thread_score(turn, content) else None


def _latest(recent: Sequence[ThreadTurn]) -> dict[str, int]:
    """Return, per thread, the number of turns after its latest turn."""
    latest: dict[str, int] = {}
    for turns_since, turn in enumerate(reversed(recent)):
        if turn.thread is not None:
            latest.setdefault(turn.thread, turns_since)
    return latest


def _shared(
    content: dict[str, float], recent: Sequence[ThreadTurn], contents: Sequence[dict[str, float]]
) -> defaultdict[str, float]:
    """Return, per thread, the weight of the turn's words that only this thread has used. Older uses count less."""
    threads_by_word: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for turns_since, (turn, words) in enumerate(zip(reversed(recent), reversed(contents), strict=True)):
        for word in words.keys() & content.keys() if turn.thread is not None else ():
            threads_by_word[word].setdefault(turn.thread or "", 0.5 ** (turns_since / _HALF_LIFE))
    shared: defaultdict[str, float] = defaultdict(float)
    for word, threads in threads_by_word.items():
        if len(threads) == 1:
            ((thread, freshness),) = threads.items()
            shared[thread] += content[word] * freshness
    return shared


def _reply_score(turn: ThreadTurn, content: dict[str, float], turns_since: int, recent: Sequence[ThreadTurn]) -> float:
    """Return how well a turn follows a thread's latest turn, after which ``back`` turns came.

    Speakers alternate (Sacks, Schegloff and Jefferson, 1974): the last speaker of a thread with several speakers is
    less likely to be the next. A turn with few content words, or after a question, continues the turn right before it.
    """
    last = recent[-1 - turns_since]
    score = 0.0
    if turn.speaker == last.speaker:
        if any(other.thread == last.thread and other.speaker != turn.speaker for other in recent):
            score += _SPEAKS_AGAIN
    elif turns_since == 0 and _asks(last) and not _asks(turn):
        score += _ANSWERS
    if turns_since == 0:
        score += _LAST + (_SAYS_LITTLE if _weight(content) <= _FEW_WORDS else 0.0)
    return score


def _new_thread_score(turn: ThreadTurn, content: dict[str, float]) -> float:
    """Return the score of a new thread. A question without pronouns raises it; pronouns and few words lower it."""
    points_back = _PRONOUNS.search(turn.text) is not None
    score = _NEW + (_POINTS_BACK if points_back else 0.0) + (_TOO_LITTLE if _weight(content) <= _FEW_WORDS else 0.0)
    return score + (_ASKS_ANEW if _asks(turn) and not points_back else 0.0)


def _asks(turn: ThreadTurn) -> bool:
    return turn.text.rstrip().endswith("?")


def _default_predecessor(turn: ThreadTurn, recent: Sequence[ThreadTurn]) -> ThreadTurn:
    """Return the turn that one continues by default: the last, or the same speaker's turn that it concludes from.

    A conclusion skips only others' asides (*by the way*), and only if it does not address its listeners.
    """
    if _CONCLUDES.match(turn.text) and not _ADDRESSING.search(turn.text):
        for other in reversed(recent[-_ASIDES - 1 :]):
            if other.speaker == turn.speaker:
                return other
            if not _AWAY.match(other.text):
                break
    return recent[-1]


def _thread_named(what: str, recent: Sequence[ThreadTurn], contents: Sequence[dict[str, float]]) -> str | None:
    """Return the thread that last used one of these words, or None."""
    named_words = _content(what, frozenset()).keys()
    for other, words in zip(reversed(recent), reversed(contents), strict=True):
        if named_words & words.keys():
            return other.thread
    return None


def _content(text: str, names: Set[str]) -> dict[str, float]:
    """Return the stems of content words with their weights. ``names`` count double."""
    weights: dict[str, float] = {}
    for word in _WORD.findall(text):
        folded = word.casefold().removesuffix("'s").removesuffix("’s")
        if folded.split("'")[0].split("’")[0] not in _STOPS and len(folded) > 2:
            weights[_stemmer.stemWord(folded)] = _NAME_WEIGHT if folded in names else 1.0
    return weights


def _weight(words: dict[str, float]) -> float:
    return sum(words.values())
