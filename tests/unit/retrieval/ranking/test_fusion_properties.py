from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_retrieval.ranking import fusion
from vicw_retrieval.ranking.fusion import Wave, fuse_wave
from vicw_shared.ports import VectorHit

WEIGHTS = {"dense": 0.6, "bm25": 0.4}
scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 50), max_size=8)


def test_rrf_is_the_sum_of_reciprocal_ranks() -> None:
    fused = fusion.fuse_ranks({"dense": ["x", "y"], "bm25": ["y", "z"]}, {"dense": 1.0, "bm25": 0.5})
    assert fused == pytest.approx({"x": 1 / 61, "y": 1.1 * (1 / 62 + 0.5 / 61), "z": 0.5 / 62})


def standardised(dense: dict[str, float], bm25: dict[str, float], *, alpha: float) -> dict[str, float]:
    return {
        name: fusion.squash(z)
        for name, z in fusion.fuse_scores({"dense": dense, "bm25": bm25}, {"dense": alpha, "bm25": 1 - alpha}).items()
    }


def test_zscore_standardises_over_the_candidates() -> None:
    others = {f"o{n}": 0.5 for n in range(22)}
    fused = standardised({"x": 0.9, "z": 0.1} | others, {"x": 0.0, "o0": 4.0}, alpha=0.25)
    deviation = math.sqrt((0.4**2 + 0.4**2) / 24)
    mean = 4 / 24
    lexical = math.sqrt((23 * mean**2 + (4 - mean) ** 2) / 24)
    x = 0.25 * 0.4 / deviation + 0.75 * (0 - mean) / lexical
    assert fused["x"] == pytest.approx(1 / (1 + math.exp(-x)))


def test_an_exact_word_outranks_a_slightly_higher_similarity() -> None:
    fused = standardised({"exact": 0.30, "near": 0.36}, {"exact": 5.0}, alpha=0.6)
    assert fused["exact"] > fused["near"]
    fused = standardised({"word": 0.05, "meaning": 0.70}, {"word": 0.4, "meaning": 0.3}, alpha=0.6)
    assert fused["meaning"] > fused["word"], "and a common word does not outrank a much greater likeness"


@given(scores, scores, st.floats(0, 1))
def test_fusions_are_pure_bounded_and_cover_both_channels(
    dense: dict[str, float], bm25: dict[str, float], alpha: float
) -> None:
    before = (dict(dense), dict(bm25))
    fused = standardised(dense, bm25, alpha=alpha)
    assert fused.keys() == dense.keys() | bm25.keys()
    assert all(0 <= score <= 1 for score in fused.values())
    assert (dense, bm25) == before


@given(scores, st.floats(0.01, 1))
def test_best_hit_of_the_only_channel_keeps_the_best_fused_score(dense: dict[str, float], alpha: float) -> None:
    fused = standardised(dense, {}, alpha=alpha)
    best = max(fused.values(), default=0)
    assert all(fused[name] == pytest.approx(best) for name in dense if dense[name] == max(dense.values()))


def test_a_channel_alone_keeps_its_own_scores() -> None:
    wave = Wave({"bm25": [VectorHit("a", 7.0)], "dense": []}, {"bm25": {"a": 7.0}, "dense": {}}, WEIGHTS)
    assert fuse_wave(wave, method="rrf") == {"a": 7.0}
    assert fuse_wave(wave, method="zscore") == wave.strengths, "standardised, whatever channels there are"
