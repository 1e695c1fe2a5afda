"""The model in memory with its two lanes."""

from __future__ import annotations

import os
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vicw_embedding.engine import loader
from vicw_embedding.engine.lane import Embedded, LaneOptions, LaneWorker
from vicw_shared.errors import SettingsError
from vicw_shared.ports.embedder import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vicw_embedding.models.model_files import ModelFile

BULK_NICENESS = 10
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
BATCH_TOKENS = {Lane.QUERY: 256, Lane.BULK: 512}
"""Tokens of a batch of each lane, and so the longest window of a text. Queries are short; larger batches would take
9 MiB with a model of 1024 dimensions. A longer text is read in windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """``threads`` per lane, 0 for all cores; ``queue_texts`` per lane; ``observe`` is called with the sequences, tokens
    and seconds of every batch, on the lane's thread.
    """

    threads: int = 0
    queue_texts: int = 4096
    observe: Callable[[Lane, int, int, float], None] = lambda lane, sequences, tokens, seconds: None


class Engine:
    """One model, loaded once, with contexts and threads for each lane.

    The constructor blocks until the model is in memory. The process must not fork afterwards: a forked copy of
    llama.cpp's thread pool hangs.
    """

    def __init__(self, model_file: ModelFile, options: EngineOptions) -> None:
        """Load the model. Raises SettingsError if its files are damaged, of another kind of model, or do not match its
        card.
        """
        self.file = model_file
        card = model_file.card
        self._model = loader.load(model_file)
        if self._model.size != card.size:
            self._model.close()
            raise SettingsError(
                f"{model_file.path} has vectors of {self._model.size} dimensions, but {card.name} has {card.size}: "
                "it is another model's file. Fetch it again, or name it by its path in VICW_EMBEDDING_MODEL"
            )
        self._lanes = {lane: self._worker(lane, options) for lane in Lane}
        try:
            for worker in self._lanes.values():
                worker.start()
        except BaseException:
            self.close()
            raise

    def submit(self, texts: Sequence[str], lane: Lane) -> Future[Embedded]:
        """Queue texts; the future has their vectors in order. Without texts it is done, with shape (0, size).

        Raises OverloadedError, LimitExceededError, UnavailableError.
        """
        if texts:
            return self._lanes[lane].submit(texts)
        done: Future[Embedded] = Future()
        done.set_result(Embedded(np.empty((0, self.file.card.size), dtype=np.float32), 0))
        return done

    def waiting(self, lane: Lane) -> int:
        """Number of the lane's texts accepted and not yet answered."""
        return self._lanes[lane].waiting

    @property
    def alive(self) -> bool:
        """Whether both lanes run."""
        return all(worker.alive for worker in self._lanes.values())

    def close(self) -> None:
        """Stop both lanes, then free the model. Safe to call twice."""
        for worker in self._lanes.values():
            worker.close()
        self._model.close()

    def _worker(self, lane: Lane, options: EngineOptions) -> LaneWorker:
        card = self.file.card
        return LaneWorker(
            self._model,
            LaneOptions(
                name=lane.value,
                pooling=card.pooling,
                max_tokens=min(card.max_tokens, self._model.context_length, BATCH_TOKENS[lane]),
                batch_tokens=BATCH_TOKENS[lane],
                threads=options.threads or usable_cores(),
                queue_texts=options.queue_texts,
                niceness=BULK_NICENESS if lane is Lane.BULK else 0,
                observe=lambda *batch: options.observe(lane, *batch),
            ),
        )


def _processors() -> int:
    # Fewer than the machine has if the process is pinned to some of them.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_cores(quota: Path = _QUOTA) -> int:
    """Return how many processors this process may use: a container may have a quota."""
    try:
        allowed, period = quota.read_text("ascii").split()
        return min(_processors(), max(1, round(int(allowed) / int(period))))
    except (OSError, ValueError):  # no container, or one without a quota: "max"
        return _processors()
