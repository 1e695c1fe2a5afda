"""One cross-encoder in memory: it reads a question and a text as one sequence, and its head gives a score."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from vicw_embedding import windows
from vicw_embedding.engine import usable_cores
from vicw_embedding.native import MAX_SEQUENCES, NativeContext, NativeError, NativeModel
from vicw_embedding.windows import Frame
from vicw_shared.embedding_models import Pooling
from vicw_shared.errors import OverloadedError, SettingsError, UnavailableError

BATCH_TOKENS = 512
"""What is computed at once, and so the longest window of a pair."""
_HEADS = ("cls.weight", "cls.output.weight")
_DEPENDENCY = "rerank"

type _Window = tuple[int, list[int]]
"""The place of a text, and the tokens of the question with a part of it."""


class RerankEngine:
    """A GGUF file that judges. Everything that touches it runs in one thread: two in one context crash."""

    def __init__(self, path: Path, *, threads: int, queue_requests: int = 16) -> None:
        """Load ``path``; blocks. Raises SettingsError if it is no cross-encoder that llama.cpp can run."""
        self.name = path.stem
        self._queue_requests = queue_requests
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")
        _require_head(path)
        self._model = NativeModel(path)
        self._window = min(self._model.context_length, BATCH_TOKENS)
        try:
            self._context = self._thread.submit(self._open, threads or usable_cores()).result()
        except BaseException:
            self._model.close()
            raise

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in their order, as the model's head gives it (a logit, as a rule).

        Of the question half a window is read; a longer text is read in windows and has the score of the best (MaxP:
        Dai and Callan, SIGIR 2019). Whoever gives up waiting ends it. Raises OverloadedError, UnavailableError.
        """
        if self._waiting >= self._queue_requests:
            raise OverloadedError("too many requests wait for the re-ranker", dependency=_DEPENDENCY)
        given_up = threading.Event()
        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(self._judge, query, texts, given_up))
        except NativeError as error:
            raise UnavailableError(_DEPENDENCY, str(error)) from error
        finally:
            self._waiting -= 1
            given_up.set()

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self._thread.shutdown()
        self._context.close()
        self._model.close()

    def _open(self, threads: int) -> NativeContext:
        return NativeContext(self._model, Pooling.RANK, threads=threads, batch_tokens=BATCH_TOKENS)

    def _judge(self, query: str, texts: Sequence[str], given_up: threading.Event) -> list[float]:
        scores = np.full(len(texts), -np.inf, dtype=np.float32)
        for batch in _batches(self._windows(query, texts)):
            if given_up.is_set():
                break
            rows = self._context.embed([tokens for _, tokens in batch])[:, 0]
            if not np.isfinite(rows).all():
                raise NativeError("the model gave scores that are not numbers")
            for (at, _), score in zip(batch, rows, strict=True):
                scores[at] = max(scores[at], score)
        judged: list[float] = scores.tolist()
        return judged

    def _windows(self, query: str, texts: Sequence[str]) -> Iterator[_Window]:
        frame = self._frame(self._model.tokenize(query))
        for at, text in enumerate(texts):
            for window in windows.cut(self._model.tokenize(text), frame, self._window):
                yield at, window

    def _frame(self, query: Sequence[int]) -> Frame:
        """Return what stands around a text: the question before it, with the special tokens of a pair."""
        own = self._model.frame
        asked = own.around(query[: self._window // 2 - own.length])
        return Frame((*asked, *(own.suffix if self._model.separates_twice else ())), own.suffix)


def _batches(pieces: Iterator[_Window]) -> Iterator[list[_Window]]:
    batch: list[_Window] = []
    tokens = 0
    for piece in pieces:
        if batch and (tokens + len(piece[1]) > BATCH_TOKENS or len(batch) == MAX_SEQUENCES):
            yield batch
            batch, tokens = [], 0
        batch.append(piece)
        tokens += len(piece[1])
    if batch:
        yield batch


def _require_head(path: Path) -> None:
    """Raise SettingsError for what llama.cpp would abort on: a model that has no head to judge with."""
    import gguf

    if not path.is_file():
        raise SettingsError(f"VICW_RERANK_MODEL names {path}, and there is no such file")
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, OSError) as error:
        raise SettingsError(f"VICW_RERANK_MODEL: {path} is not a readable GGUF file") from error
    pooling = next((str(name) for name in reader.fields if str(name).endswith(".pooling_type")), None)
    field = reader.get_field(pooling) if pooling is not None else None
    ranks = field is not None and field.contents() == gguf.PoolingType.RANK
    if not ranks or not any(tensor.name in _HEADS for tensor in reader.tensors):
        raise SettingsError(
            f"VICW_RERANK_MODEL: {path} is no cross-encoder: it has no head for ranking. Name one that was converted "
            "as a re-ranker, or a server that has it (VICW_RERANK_URL)"
        )
    if reader.get_field("tokenizer.chat_template.rerank") is not None:
        raise SettingsError(
            f"VICW_RERANK_MODEL: {path} wants a prompt of its own, which only llama.cpp's server writes: "
            "set VICW_RERANK_URL to one (`llama-server --rerank`)"
        )
