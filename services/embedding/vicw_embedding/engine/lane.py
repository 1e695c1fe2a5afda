"""One lane: a queue of requests, and the only thread that uses its llama.cpp context."""

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
from vicw_embedding.engine.native import MAX_SEQUENCES, NativeContext, NativeError
from vicw_shared.errors import LimitExceededError, OverloadedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vicw_embedding.engine.native import NativeModel
    from vicw_shared.embedding_models import Pooling

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
    rows: list[list[NDArray[np.float32]]] = field(default_factory=list)
    read: int = 0
    open_pieces: int = 0
    tokens: int = 0


@dataclass(eq=False, slots=True)
class _Piece:
    job: _Job
    text: int
    tokens: list[int]


class LaneWorker:
    """Runs requests in their order of arrival, several in one batch if they fit.

    Every batch is packed by tokens from the head of the queue, across requests. A request whose future is cancelled
    leaves the queue, and its texts no longer count.
    """

    def __init__(self, model: NativeModel, options: LaneOptions) -> None:
        self._model = model
        self._options = options
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._current: _Job | None = None
        self._pieces: deque[_Piece] = deque()
        self._lock = threading.Lock()
        self._waiting = 0
        self._closing = False
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name=f"lane-{options.name}", daemon=True)

    def start(self) -> None:
        """Start the thread and wait for its context. Raises NativeError if it cannot be allocated."""
        self._thread.start()
        self._started.result()

    def submit(self, texts: Sequence[str]) -> Future[Embedded]:
        """Queue at least one text. Raises OverloadedError if too many wait, LimitExceededError if these alone exceed
        the queue, UnavailableError if the lane has stopped.
        """
        limit = self._options.queue_texts
        if len(texts) > limit:
            raise LimitExceededError(f"{len(texts)} texts in one request; VICW_EMBEDDING_QUEUE_TEXTS allows {limit}")
        job = _Job(texts, rows=[[] for _ in texts])
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
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop after the current batch; waiting requests fail with UnavailableError."""
        with self._lock:
            self._closing = True
        self._jobs.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _leave(self, texts: int) -> None:
        with self._lock:
            self._waiting -= texts

    def _run(self) -> None:
        try:
            self._lower_priority()
            context = NativeContext(
                self._model,
                self._options.pooling,
                threads=self._options.threads,
                batch_tokens=self._options.batch_tokens,
            )
        except BaseException as error:
            self._started.set_exception(error)
            return
        self._started.set_result(None)
        try:
            while not self._closing:
                if batch := self._next_batch():
                    self._compute(context, batch)
        finally:
            context.close()
            with self._lock:
                self._closing = True
            self._abandon()

    def _lower_priority(self) -> None:
        # The lane's OpenMP workers are started by this thread and inherit its priority, so queries win
        # the processor from a bulk batch that is already running.
        if self._options.niceness:
            thread = threading.get_native_id()
            with contextlib.suppress(OSError):
                nice = os.getpriority(os.PRIO_PROCESS, thread) + self._options.niceness
                os.setpriority(os.PRIO_PROCESS, thread, nice)

    def _next_batch(self) -> list[_Piece]:
        batch: list[_Piece] = []
        tokens = 0
        while len(batch) < MAX_SEQUENCES and self._fill(wait=not batch):
            tokens += len(self._pieces[0].tokens)
            if tokens > self._options.batch_tokens:
                break
            batch.append(self._pieces.popleft())
        return batch

    def _fill(self, *, wait: bool) -> bool:
        """Read the queue until there is a piece; return whether there is one."""
        while True:
            while self._pieces and self._pieces[0].job.future.done():
                self._pieces.popleft()
            if self._pieces:
                return True
            if self._current is None:
                try:
                    self._current = self._jobs.get(block=wait)
                except queue.Empty:
                    return False
                if self._current is None:
                    return False
            self._read(self._current)

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
            _fail(job, error)
            return
        job.open_pieces += len(parts)
        self._pieces.extend(_Piece(job, job.read, part) for part in parts)
        job.read += 1

    def _compute(self, context: NativeContext, batch: list[_Piece]) -> None:
        started = time.perf_counter()
        try:
            rows = context.embed([piece.tokens for piece in batch])
            if not np.isfinite(rows).all():
                raise NativeError("the model returned vectors that are not finite")
        except Exception as error:
            _log.exception("a batch failed")
            for piece in batch:
                _fail(piece.job, UnavailableError("embedding", str(error)))
            return
        tokens = sum(len(piece.tokens) for piece in batch)
        self._options.observe(len(batch), tokens, time.perf_counter() - started)
        for piece, row in zip(batch, windows.normalise(rows), strict=True):
            _add_row(piece, row)

    def _abandon(self) -> None:
        error = UnavailableError("embedding", "the server is stopping")
        for job in {piece.job for piece in self._pieces} | ({self._current} if self._current else set()):
            _fail(job, error)
        while not self._jobs.empty():
            if waiting_job := self._jobs.get():
                _fail(waiting_job, error)


def _add_row(piece: _Piece, row: NDArray[np.float32]) -> None:
    job = piece.job
    job.rows[piece.text].append(row)
    job.tokens += len(piece.tokens)
    job.open_pieces -= 1
    if job.read == len(job.texts) and not job.open_pieces and _claim(job):
        rows = [parts[0] if len(parts) == 1 else windows.join(np.stack(parts)) for parts in job.rows]
        job.future.set_result(Embedded(np.stack(rows), job.tokens))


def _fail(job: _Job, error: Exception) -> None:
    if _claim(job):
        job.future.set_exception(error)


def _claim(job: _Job) -> bool:
    # A caller may cancel at any moment; after this returns true, it cannot.
    return not job.future.done() and job.future.set_running_or_notify_cancel()
