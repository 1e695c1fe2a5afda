"""Every way to fuse channels, against arithmetic."""

from __future__ import annotations

import math

import pytest

from vicw_retrieval.ranking import fusion
from vicw_retrieval.ranking.fusion import GRAPH, Wave, fuse_wave
from vicw_shared.ports import VectorHit

SCORES = {"dense": {"x": 0.9, "y": 0.6, "z": 0.4}, "bm25": {"y": 8.0, "w": 2.0, "z": 3.5}}
WEIGHTS = {"dense": 0.7, "bm25": 0.3}


def wave_of(**seeds: float) -> Wave:
    ranked = {
        name: [VectorHit(uid, score) for uid, score in sorted(found.items(), key=lambda entry: -entry[1])]
        for name, found in {**SCORES, **({GRAPH: seeds} if seeds else {})}.items()
    }
    return Wave(ranked, SCORES, WEIGHTS)


@pytest.mark.parametrize("channels", [{}, {"dense": {}}, {"dense": {}, "bm25": {}}])
def test_fusing_channels_without_hits_gives_nothing(channels: dict[str, dict[str, float]]) -> None:
    assert fusion.fuse_ranks({name: [] for name in channels}) == {}
    assert fusion.fuse_scores(channels, WEIGHTS) == {}


def test_rrf_weighs_channels_equally_unless_weights_are_given() -> None:
    rankings = {"dense": ["x", "y"], "bm25": ["y"], "graph": ["y", "x"]}
    assert fusion.fuse_ranks(rankings) == pytest.approx(
        {"x": (1 / 61 + 1 / 62) * 1.1, "y": (1 / 62 + 1 / 61 + 1 / 61) * 1.2}
    )
    assert fusion.fuse_ranks(rankings, {"dense": 0.0, "graph": 0.5}) == pytest.approx(
        {"x": 0.5 / 62 * 1.1, "y": (1 / 61 + 0.5 / 61) * 1.2}
    )


def test_a_channel_without_hits_leaves_its_weight_to_the_others() -> None:
    mean = (0.9 + 0.1) / 20  # judged among twenty, of which eighteen have nothing to do with it
    deviation = math.sqrt(((0.9 - mean) ** 2 + (0.1 - mean) ** 2 + 18 * mean**2) / 20)
    expected = {"x": (0.9 - mean) / deviation, "y": (0.1 - mean) / deviation}
    found = {"dense": {"x": 0.9, "y": 0.1}, "bm25": {}}
    assert fusion.fuse_scores(found, WEIGHTS) == pytest.approx(expected)
    assert fusion.fuse_scores(found, {"dense": 0.0, "bm25": 1.0}) == pytest.approx(expected), "even one of no weight"
    assert fusion.squash(0.0) == 0.5
    assert fusion.squash(math.log(3)) == pytest.approx(3 / 4)


@pytest.mark.parametrize("seeds", [{}, {"y": 1.0, "n": 0.5}])
def test_each_method_fuses_by_its_own_formula(seeds: dict[str, float]) -> None:
    wave = wave_of(**seeds)
    assert fuse_wave(wave, method="zscore") == fusion.fuse_scores(SCORES, WEIGHTS)
    graph = ["y", "n"] if seeds else []
    rankings = {"dense": ["x", "y", "z"], "bm25": ["y", "z", "w"], "graph": graph}
    assert fuse_wave(wave, method="rrf") == pytest.approx(
        fusion.fuse_ranks(rankings, {"dense": 2 * 0.7, "bm25": 2 * 0.3, "graph": 0.3})
    )
