"""Signals of relevance: what the channels' scores of a question say, on scales that compare questions. Pure."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from vicw_retrieval.ranking.fusion import Candidate, Wave

_SMALL = 10
"""Passages of a small store, all of which a question finds."""
_BEST = 10
"""Passages that the best one is compared with."""


def answer_signals(wave: Wave, covered: float) -> dict[str, float]:
    """Return the signals of an answer, each 0 where its channel has nothing.

    * ``cosine``: of the best passage, in [-1, 1], as the dense channel scores it;
    * ``lexical``: the best BM25 score as a share of the wave's ceiling, in [0, 1];
    * ``small``: 10 ÷ passages found, at most 1: a question finds a hundred or so, unless there are no more;
    * ``distance``: how far the best cosine is above the mean of the ten best, ≥ 0, times ``small``: in a small store
      these are the whole store, so that this says how much the best stands out;
    * ``covered``: the share of the question's words that the best passages have, in [0, 1] (``word_share.py``);
    * ``lead``: how far the best fused score is above the mean of the ten best, ≥ 0, in standard deviations: high where
      one passage is first by meaning and by words.
    """
    dense, lexical = _scores(wave, "dense"), _lexical(wave)
    small = _SMALL / max(_SMALL, len(dense) or len(lexical))
    return {
        "cosine": max(dense.values(), default=0.0),
        "lexical": _share(max(lexical.values(), default=0.0), wave.ceiling),
        "small": small,
        "distance": small * _lead(dense),
        "covered": covered,
        "lead": _lead(wave.strengths),
    }


def _lead(scores: Mapping[str, float]) -> float:
    """Return how far the best score is above the mean of the ten best; 0 without any."""
    best = heapq.nlargest(_BEST, scores.values())
    return best[0] - fmean(best) if best else 0.0


def result_signals(results: Sequence[Candidate], wave: Wave) -> list[dict[str, float]]:
    """Return the signals of each result, in order.

    * ``place``: the natural logarithm of its rank, ≥ 0;
    * ``behind``: how far its best cosine is behind that of the best passage, ≥ 0; of what no channel scored, as far as
      the last;
    * ``words``: its best BM25 score as a share of the wave's ceiling, in [0, 1].
    """
    dense, lexical = _scores(wave, "dense"), _lexical(wave)
    best, last = max(dense.values(), default=0.0), min(dense.values(), default=0.0)
    signals = []
    for rank, one in enumerate(results, start=1):
        passages = [passage for passage, _ in one.passages]
        cosine = max((dense[passage] for passage in passages if passage in dense), default=last)
        words = max((lexical.get(passage, 0.0) for passage in passages), default=0.0)
        signals.append({"place": math.log(rank), "behind": best - cosine, "words": _share(words, wave.ceiling)})
    return signals


def _scores(wave: Wave, channel: str) -> Mapping[str, float]:
    return wave.scores.get(channel, {})


def _lexical(wave: Wave) -> Mapping[str, float]:
    """Return the scores of words; those of full text, on the same scale, where it answers in place of bm25."""
    return _scores(wave, "bm25") or _scores(wave, "fulltext")


def _share(score: float, ceiling: float) -> float:
    return min(1.0, score / ceiling) if ceiling > 0 else 0.0
