"""Later before earlier: of statements that answer a question about the present alike, the latest comes first.

Nothing says which of them holds, so only their order changes, and both stay. They answer alike if the later one is what
is nearest to the earlier one among everything found, and near to the question, too. A text of several sentences is left
alone: its time and its vector are not those of one statement. A correction (*no, that was wrong*) is paired with what
it takes back, so that the answer can say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vicw_core.language.statement_subject import is_of_another
from vicw_core.language.statement_words import (
    is_correction,
    is_plain,
    is_unsure,
    named_things,
    speaks_of_self,
    subject_terms,
    words_of,
)
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.profile.statements import is_aside
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.model import Label
from vicw_shared.ports import VectorStore
from vicw_shared.text import fold_case

LATER = "later"
_CANDIDATES = 30
"""Candidates that are compared, the best."""
_STEPS = 5
"""Maximum statements that come before the best one."""
_NEAR = 0.03
"""Cosine within which what is nearest to a statement is not told from the next."""
_SHARED_TERM = 0.2
"""What a word in common is worth beside the cosines: a name in both tells more than a small model sees."""
_CORRECTED = 0.6
"""Minimum cosine of a correction and of what it takes back."""
_JUST_ABOVE = 1e-6


@dataclass(frozen=True, slots=True)
class StatementPair:
    """An earlier statement and a later one of the same; ``corrects``: the later one takes the other back."""

    earlier: Candidate
    later: Candidate
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class InTime:
    """The candidates in their new order, and the pairs of statements found."""

    candidates: Sequence[Candidate]
    pairs: Sequence[StatementPair] = ()


@dataclass(frozen=True, slots=True)
class TimeWanted:
    """Which of several answers comes first: the latest, or the ``earliest`` of those that ``may_move`` by their time.

    ``least`` is the minimum of what statements that answer alike have in common with each other and the question: two
    cosines, and .2 for a word in common. 0: no order is wanted.
    """

    least: float
    earliest: bool = False
    may_move: Callable[[datetime], bool] = field(default=lambda _: True)


async def prefer_later(
    question: SpreadContext, candidates: Sequence[Candidate], vectors: VectorStore, wanted: TimeWanted, limit: int
) -> InTime:
    """Return the candidates with the latest of those that answer as the best one does before it, and so on.

    Corrections are looked for among the first ``limit``. Only Events with a time count. Raises the errors of the graph
    and the vectors; then nothing has changed.
    """
    compared = [one for one in candidates[:_CANDIDATES] if one.passages]
    told = [one for one in compared if _is_told(one)]
    if len(told) < 2:
        return InTime(candidates)
    passages = {one.key: one.passages[0][0] for one in compared}
    stored = await question.graph.texts(question.scope.tenant, list(passages.values()))
    texts = {key: stored.get(passage, "") for key, passage in passages.items()}
    best = candidates[0]
    in_order_wanted = wanted.least and best in told and is_plain(texts[best.key], 1)
    corrections = [one for one in told if one in candidates[:limit] and is_correction(texts[one.key])]
    if not (in_order_wanted or corrections):
        return InTime(candidates)
    dense = await vectors.dense(list(passages.values()))
    unit = {key: dense[passage] for key, passage in passages.items() if passage in dense}
    cosines = await question.similarity.similarities(list(passages.values()))
    statements = _Statements(texts, unit, {key: cosines.get(passage, -1.0) for key, passage in passages.items()})
    steps = min(_STEPS, max(1, limit - 1))  # the best one stays a result, if there is place for two
    chain = _chain(best, compared, told, statements, wanted, question.text, steps) if in_order_wanted else [best]
    pairs = [StatementPair(min(two, key=_time), max(two, key=_time)) for two in pairwise(chain)]
    for one in corrections:
        meant = _corrected(one, told, statements)
        if meant is not None:
            pairs = [pair for pair in pairs if (pair.earlier, pair.later) != (meant, one)]
            pairs.append(StatementPair(meant, one, corrects=True))
    return InTime(_reordered(candidates, chain), pairs)


@dataclass(frozen=True, slots=True)
class _Statements:
    """The texts, unit vectors of shape (size,), and cosines to the question of candidates, by key."""

    texts: Mapping[str, str]
    vectors: Mapping[str, NDArray[np.float32]]
    cosines: Mapping[str, float]

    def likeness(self, one: Candidate, other: Candidate) -> float:
        """Return the cosine of two; -1 if one has no vector."""
        if one.key not in self.vectors or other.key not in self.vectors:
            return -1.0
        return float(self.vectors[one.key] @ self.vectors[other.key])

    def strength(self, one: Candidate, other: Candidate) -> float:
        """Return what two have in common with each other, and the first with the question."""
        return self.likeness(one, other) + self.cosines[one.key] + _SHARED_TERM * self.share_term(one, other)

    def words(self, one: Candidate) -> frozenset[str]:
        """Return the words of a text and of its speaker's name."""
        return words_of(f"{self.texts[one.key]} {one.item.speaker or ''}")

    def share_term(self, one: Candidate, other: Candidate) -> bool:
        """Return whether both have a word in common that is no function word."""
        return not subject_terms(self.texts[one.key]).isdisjoint(subject_terms(self.texts[other.key]))

    def can_be_of_one(self, one: Candidate, other: Candidate) -> bool:
        """Return whether both can be about the same: of one speaker, or of two who do not speak of themselves."""
        if one.item.context != other.item.context:
            return False
        if fold_case(one.item.speaker or "") == fold_case(other.item.speaker or ""):
            return True
        return self.share_term(one, other) and not any(speaks_of_self(self.texts[x.key]) for x in (one, other))


def _chain(
    best: Candidate,
    compared: Sequence[Candidate],
    told: Sequence[Candidate],
    statements: _Statements,
    want: TimeWanted,
    query: str,
    steps: int,
) -> list[Candidate]:
    """Return the best one and what comes before it, in their new order.

    All have what ``query`` names of the best one.
    """
    texts = statements.texts
    named = statements.words(best) & named_things(query)
    movable = [
        one
        for one in told
        if is_plain(texts[one.key], 2)
        and not (is_unsure(texts[one.key]) or is_aside(texts[one.key]))
        and want.may_move(_time(one))
        and named <= statements.words(one)
        and not is_of_another(texts[one.key], texts[best.key], query)
    ]
    chain = [best]
    while len(chain) <= steps:
        top = chain[0]
        others = [one for one in compared if one not in chain]
        nearest = max((statements.likeness(one, top) for one in others), default=-1.0)
        follow = [
            one
            for one in movable
            if (_time(one) < _time(top) if want.earliest else _time(one) > _time(top))
            and statements.can_be_of_one(one, top)
            and statements.likeness(one, top) >= nearest - _NEAR
            and statements.strength(one, top) >= want.least
        ]
        if not follow:
            break
        chain.insert(0, min(follow, key=_time) if want.earliest else max(follow, key=_time))
    return chain


def _corrected(one: Candidate, told: Sequence[Candidate], statements: _Statements) -> Candidate | None:
    """Return what a correction means: of what was told before, what is nearest to it; None: nothing is near."""
    before = [other for other in told if _time(other) < _time(one) and statements.can_be_of_one(other, one)]
    nearest = max(before, key=lambda other: statements.likeness(other, one), default=None)
    return nearest if nearest is not None and statements.likeness(nearest, one) >= _CORRECTED else None


def _reordered(candidates: Sequence[Candidate], chain: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates with the chain, whose last one is the best, on top."""
    if len(chain) == 1:
        return candidates
    score = chain[-1].score
    moved = {one.key: score + place * _JUST_ABOVE for place, one in enumerate(reversed(chain)) if place}
    return in_order(
        one.raised(**{LATER: moved[one.key] - one.score}) if one.key in moved else one for one in candidates
    )


def _is_told(one: Candidate) -> bool:
    return one.item.label is Label.EVENT and one.item.timestamp is not None and not one.item.is_macro


def _time(one: Candidate) -> datetime:
    assert one.item.timestamp is not None
    return one.item.timestamp
