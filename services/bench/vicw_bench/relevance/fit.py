"""Fits the constants of relevance: logistic regression by Newton's method, with no library but numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_bench.relevance.ask import Judged, Kind
from vicw_retrieval.relevance.calibration import Calibration, Formula

type _Array = NDArray[np.float64]
_RIDGE = 1e-3
"""Weight of the squared weights of standardised signals: sets are few, and their signals correlate."""
_STEPS = 50
_SAFETY = 0.5
"""What "nothing" is said below, as a share of what would lose no more than ``LOST`` in any set of the fit."""
LOST = 0.001
"""Mean share of the evidence that may be in answers called "nothing"."""


def fit(judged: Sequence[Judged], answer: Sequence[str], result: Sequence[str]) -> Calibration:
    """Return the constants for these signals of the ``answer`` and of a ``result``.

    In every set, answers with evidence weigh as much as those without, and every set weighs the same. Results are of
    answers that hold evidence.
    """
    weights = np.zeros(len(judged))
    for name in {one.data for one in judged}:
        for holds in (True, False):
            chosen = [at for at, one in enumerate(judged) if one.data == name and (one.kind is Kind.OWN) == holds]
            kinds = {judged[at].kind for at in chosen}
            for kind in kinds:  # left out and foreign ones weigh the same together, however many there are
                of_kind = [at for at in chosen if judged[at].kind is kind]
                weights[of_kind] = 1 / (len(of_kind) * len(kinds))
    holds_evidence = np.array([one.kind is Kind.OWN for one in judged], dtype=np.float64)
    of_answer = _formula([one.signals for one in judged], answer, holds_evidence, weights)
    rows = [(one.data, signals, right) for one in judged if one.found > 0 for signals, right in one.results]
    sizes = {name: sum(row[0] == name for row in rows) for name in {row[0] for row in rows}}
    of_result = _formula(
        [signals for _, signals, _ in rows],
        result,
        np.array([right for _, _, right in rows], dtype=np.float64),
        np.array([1 / sizes[name] for name, _, _ in rows]),
    )
    return Calibration(answer=of_answer, result=of_result, nothing=_nothing(judged, of_answer))


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive has the higher figure, ties counted half; NaN without one of them.

    >>> auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    if not positive or not negative:
        return float("nan")
    higher = np.asarray(positive)[:, None] - np.asarray(negative)[None, :]
    return float(np.mean((higher > 0) + 0.5 * (higher == 0)))


def lost(judged: Sequence[Judged], figures: Sequence[float], nothing: float) -> float:
    """Return the mean share of the evidence that is in answers whose figure is below ``nothing``; 0 without any."""
    own = [(one.found, figure) for one, figure in zip(judged, figures, strict=True) if one.kind is Kind.OWN]
    return sum(found for found, figure in own if figure < nothing) / len(own) if own else 0.0


def _nothing(judged: Sequence[Judged], answer: Formula) -> float:
    """Return the relevance below which nothing is known: no set may lose more than ``LOST`` by it."""
    least = 1.0
    for name in {one.data for one in judged}:
        own = [one for one in judged if one.data == name and one.kind is Kind.OWN]
        figures = [answer.probability(one.signals) for one in own]
        at = [figure for figure in sorted(figures) if lost(own, figures, figure) <= LOST]
        least = min(least, at[-1] if at else 0.0)
    return round(_SAFETY * least, 4)


def _formula(rows: Sequence[Mapping[str, float]], names: Sequence[str], labels: _Array, weights: _Array) -> Formula:
    signals = np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    mean, deviation = signals.mean(axis=0), signals.std(axis=0) + 1e-9
    scaled = np.column_stack([np.ones(len(rows)), (signals - mean) / deviation])
    found = _logistic(scaled, labels, weights / weights.sum())
    slopes = found[1:] / deviation
    return Formula(
        bias=round(float(found[0] - slopes @ mean), 4),
        weights={name: round(float(slope), 4) for name, slope in zip(names, slopes, strict=True)},
    )


def _logistic(signals: _Array, labels: _Array, weights: _Array) -> _Array:
    """Return the bias and the weights of the likeliest logistic regression, with a ridge on all but the bias."""
    ridge = np.diag([0.0, *[_RIDGE] * (signals.shape[1] - 1)])
    found = np.zeros(signals.shape[1])
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(-np.clip(signals @ found, -50, 50)))
        slope = signals.T @ (weights * (odds - labels)) + ridge @ found
        curve = (signals.T * (weights * odds * (1 - odds))) @ signals + ridge + 1e-9 * np.eye(len(found))
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return found
