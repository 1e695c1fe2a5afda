"""How many batches are drafted together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from vicw_sleep.consolidation.pace import BatchSize


class Clock:
    """Tells what it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sizes(pace: BatchSize, clock: Clock, seconds: list[float]) -> list[int]:
    """Return how many are taken after groups that took so long, to begin with after none."""
    taken = []
    for took in (0.0, *seconds):
        clock.now += took
        some, left = pace.take(list(range(100)))
        assert some + left == list(range(100))
        taken.append(len(some))
    return taken


def test_batch_size_grows_while_drafting_is_fast() -> None:
    clock = Clock()
    assert sizes(BatchSize(clock=clock), clock, [0.1] * 6) == [1, 2, 4, 8, 16, 20, 20]


def test_batch_size_shrinks_while_drafting_is_slow() -> None:
    clock = Clock()
    assert sizes(BatchSize(clock=clock), clock, [0.1, 0.1, 0.1, 60.0, 30.0, 9.0, 9.0, 3.0, 1.0]) == [
        1,
        2,
        4,
        8,
        4,
        2,
        1,
        1,
        1,
        2,
    ]


def test_batch_size_follows_the_concurrency_of_the_language_model() -> None:
    asking: Any = SimpleNamespace(at_once=3)
    clock = Clock()
    pace = BatchSize(asking, clock)
    assert sizes(pace, clock, [90.0, 90.0]) == [3, 3, 3]
    asking.at_once = 0
    assert sizes(pace, clock, [0.1]) == [2, 4], "it is away"
