"""One lane: a queue of requests, and the threads that compute them, each with its own context."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import structlog

from vicw_embedding.engine import windows
from vicw_embedding.engine.port import EngineError
from vicw_shared.errors import LimitExceededError, OverloadedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vicw_embedding.engine.port import Context, Model
    from vicw_shared.embedding_models import Pooling

_LOOK_AHEAD = 128
_CALL_TOKENS = 16
"""What a batch costs beside its tokens, padding included: about as much as so many tokens."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a request, shape (texts, size), float32, norm 1, and the number of tokens read."""

    rows: NDArray[np.float32]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOptions:
    """Options of a lane: ``niceness`` is added to the thread's, ``queue_texts`` is the maximum of waiting texts.

    ``max_tokens`` is the size of a text's window, ``batch_tokens`` that of a batch.
    """

    name: str
    pooling: Pooling
    max_tokens: int
    batch_tokens: int
    threads: int
    queue_texts: int
    niceness: int = 0
    observe: Callable[[int, int, float], None] = lambda sequences, tokens, seconds: None


@dataclass(eq=False, slots=True)
class _Job:
    texts: Sequence[str]
    future: Future[Embedded] = field(default_factory=Future)
    rows: list[dict[int, NDArray[np.float32]]] = field(default_factory=list)
    read: int = 0
    claimed: bool = False
    open_pieces: int = 0
    tokens: int = 0


@dataclass(eq=False, slots=True)
class _Piece:
    job: _Job
    text: int
    window: int
    tokens: list[int]


class LaneWorker:
    """Runs requests in their order of arrival, several in one batch if they fit.

    Every batch is packed by tokens from the head of the queue, across requests; where a batch is padded, with the texts
    nearest in length to the first, until one would raise the cost of a token. A request whose future is cancelled
    leaves the queue, and its texts no longer count.
    """

    def __init__(self, model: Model, options: LaneOptions) -> None:
        self._model = model
        self._options = options
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._reading = threading.Lock()  # guards the two below
        self._current: _Job | None = None
        self._pieces: deque[_Piece] = deque()
        self._lock = threading.Lock()  # guards the rest, and what jobs count
        self._waiting = 0
        self._closing = False
        self._started: list[Future[None]] = [Future() for _ in range(model.workers(options.threads))]
        self._threads = [
            threading.Thread(target=self._run, args=(started,), name=f"lane-{options.name}", daemon=True)
            for started in self._started
        ]

    def start(self) -> None:
        """Start the threads and wait for their contexts. Raises EngineError if one cannot be allocated."""
        for thread in self._threads:
            thread.start()
        for started in self._started:
            started.result()

    def submit(self, texts: Sequence[str]) -> Future[Embedded]:
        """Queue at least one text. Raises OverloadedError if too many wait, LimitExceededError if these alone exceed
        the queue, UnavailableError if the lane has stopped.
        """
        limit = self._options.queue_texts
        if len(texts) > limit:
            raise LimitExceededError(f"{len(texts)} texts in one request; VICW_EMBEDDING_QUEUE_TEXTS allows {limit}")
        job = _Job(texts, rows=[{} for _ in texts])
        with self._lock:
            if self._closing or not self.alive:
                raise UnavailableError("embedding", "the model is not running")
            if self._waiting + len(texts) > limit:
                raise OverloadedError(f"{self._waiting} texts wait in the {self._options.name} lane")
            self._waiting += len(texts)
            self._jobs.put(job)
        job.future.add_done_callback(lambda _: self._leave(len(texts)))
        return job.future

    @property
    def waiting(self) -> int:
        """Number of texts accepted and not yet answered."""
        return self._waiting

    @property
    def alive(self) -> bool:
        """Whether the threads run."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Stop after the current batches; waiting requests fail with UnavailableError."""
        self._stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _stop(self) -> None:
        with self._lock:
            self._closing = True
        for _ in self._threads:
            self._jobs.put(None)

    def _leave(self, texts: int) -> None:
        with self._lock:
            self._waiting -= texts

    def _run(self, started: Future[None]) -> None:
        try:
            self._lower_priority()
            context = self._model.open_context(
                self._options.pooling,
                threads=self._options.threads // len(self._threads),
                batch_tokens=self._options.batch_tokens,
            )
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        try:
            while not self._closing:
                if batch := self._next_batch():
                    self._compute(context, batch)
        finally:
            context.close()
            self._stop()
            self._abandon()

    def _lower_priority(self) -> None:
        # The threads that a context starts inherit it, so queries win the processor from a bulk batch that is already
        # running.
        if self._options.niceness and hasattr(os, "setpriority"):  # Windows has none
            thread = threading.get_native_id()
            with contextlib.suppress(OSError, AttributeError):  # not every system has priorities of threads
                nice = os.getpriority(os.PRIO_PROCESS, thread) + self._options.niceness
                os.setpriority(os.PRIO_PROCESS, thread, nice)

    def _next_batch(self) -> list[_Piece]:
        with self._reading:
            while len(self._pieces) < _LOOK_AHEAD and self._read_more():
                pass
            self._pieces = deque(piece for piece in self._pieces if not piece.job.future.done())
            batch = self._choose()
            self._pieces = deque(piece for piece in self._pieces if piece not in batch)
            return batch

    def _choose(self) -> list[_Piece]:
        batch: list[_Piece] = []
        first = len(self._pieces[0].tokens) if self._pieces else 0
        pads, tokens, longest = self._model.pads, 0, 0
        by_length = sorted(self._pieces, key=lambda piece: abs(len(piece.tokens) - first)) if pads else self._pieces
        least = float("inf")
        for piece in by_length:
            tokens += len(piece.tokens)
            longest = max(longest, len(piece.tokens))
            computed = longest * (len(batch) + 1) if pads else tokens
            cost = (_CALL_TOKENS + computed) / tokens
            full = len(batch) == self._model.max_sequences or computed > self._options.batch_tokens
            if full or cost > least:
                break
            least = cost
            batch.append(piece)
        return batch

    def _read_more(self) -> bool:
        """Read one more text of the queue, and wait for it if there is nothing to compute; return whether there was."""
        if self._current is None:
            if self._closing:
                return False
            try:
                self._current = self._jobs.get(block=not self._pieces)
            except queue.Empty:
                return False
            if self._current is None:
                return False
        self._read(self._current)
        return True

    def _read(self, job: _Job) -> None:
        """Tokenise the job's next text. One at a time: a query must not wait for thousands of them."""
        if job.future.done() or job.read == len(job.texts):
            self._current = None
            return
        try:
            body = self._model.tokenize(job.texts[job.read])
            parts = windows.cut(body or self._model.tokenize("."), self._model.frame, self._options.max_tokens)
        except Exception as error:
            _log.exception("a text could not be tokenised")
            self._fail(job, error)
            return
        self._pieces.extend(_Piece(job, job.read, window, part) for window, part in enumerate(parts))
        with self._lock:
            job.open_pieces += len(parts)
            job.read += 1

    def _compute(self, context: Context, batch: list[_Piece]) -> None:
        started = time.perf_counter()
        try:
            rows = context.embed([piece.tokens for piece in batch])
            if not np.isfinite(rows).all():
                raise EngineError("the model returned vectors that are not finite")
        except Exception as error:
            _log.exception("a batch failed")
            for piece in batch:
                self._fail(piece.job, UnavailableError("embedding", str(error)))
            return
        tokens = sum(len(piece.tokens) for piece in batch)
        self._options.observe(len(batch), tokens, time.perf_counter() - started)
        for piece, row in zip(batch, windows.normalise(rows), strict=True):
            self._add_row(piece, row)

    def _add_row(self, piece: _Piece, row: NDArray[np.float32]) -> None:
        job = piece.job
        with self._lock:
            job.rows[piece.text][piece.window] = row
            job.tokens += len(piece.tokens)
            job.open_pieces -= 1
            complete = job.read == len(job.texts) and not job.open_pieces
        if complete and self._claim(job):
            job.future.set_result(Embedded(np.stack([_joined(parts) for parts in job.rows]), job.tokens))

    def _abandon(self) -> None:
        error = UnavailableError("embedding", "the server is stopping")
        with self._reading:
            for job in {piece.job for piece in self._pieces} | ({self._current} if self._current else set()):
                self._fail(job, error)
            while not self._jobs.empty():
                if waiting_job := self._jobs.get():
                    self._fail(waiting_job, error)

    def _fail(self, job: _Job, error: Exception) -> None:
        if self._claim(job):
            job.future.set_exception(error)

    def _claim(self, job: _Job) -> bool:
        # A caller may cancel at any moment; after this returns true, it cannot.
        with self._lock:
            first, job.claimed = not job.claimed, True
        return first and job.future.set_running_or_notify_cancel()


def _joined(parts: dict[int, NDArray[np.float32]]) -> NDArray[np.float32]:
    return parts[0] if len(parts) == 1 else windows.join(np.stack([parts[window] for window in range(len(parts))]))
