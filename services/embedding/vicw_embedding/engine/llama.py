"""Thin, typed wrapper of the C interface of llama.cpp: one model, and contexts on it.

llama.cpp aborts the whole process on misuse, so every size is checked before a call, and a failing call becomes an
exception. Threads share only the model, which is read-only.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import structlog

from vicw_embedding.engine.port import EngineError
from vicw_embedding.engine.windows import find_frame
from vicw_shared.embedding_models import Pooling
from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_SEQUENCES = 64
_POOLING = {Pooling.MEAN: 1, Pooling.CLS: 2, Pooling.LAST: 3}
_WARNING, _ERROR = 3, 4
NOT_INSTALLED = (
    "GGUF models need llama.cpp, which is not installed: pip install 'vicw[gguf]' (it is compiled), or choose an ONNX "
    "model"
)

_log = structlog.get_logger()
_callbacks: list[Any] = []  # keeps them alive: a callback that Python collects while C holds it is a segfault


def prepare() -> None:
    """Load and configure llama.cpp. Call before any other import of it."""
    _library()


@functools.cache
def _library() -> Any:
    # Workers that spin at their barriers starve the other lane and other processes; those that sleep at once have to be
    # woken too often. A worker that sleeps wakes up on a free core, so none is pinned (docs/decisions/0049). libgomp
    # reads the limit when the import below loads it.
    os.environ.setdefault("GOMP_SPINCOUNT", "500")
    # Otherwise an abort starts a debugger on this process before it dies, which delays a restart.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        import llama_cpp.llama_cpp as library
    except ModuleNotFoundError as error:
        raise SettingsError(NOT_INSTALLED) from error
    callback = library.llama_log_callback(_log_native)
    _callbacks.append(callback)
    library.llama_log_set(callback, ctypes.c_void_p(0))
    if any(_libraries(library).glob("libggml-cpu-*")):
        # A build with kernels for each kind of processor: load the best that this one can run.
        library._lib.ggml_backend_load_all_from_path(os.fsencode(_libraries(library)))
    library.llama_backend_init()
    return library


def _libraries(library: Any) -> Path:
    return Path(library.__file__).parent / "lib"


def _log_native(level: int, text: bytes | None, _user: object) -> None:
    if text and level in {_WARNING, _ERROR}:
        report = _log.error if level == _ERROR else _log.warning
        report("llama.cpp", message=text.decode("utf-8", "replace").strip())


class LlamaModel:
    """A GGUF in memory. Its methods may be called from any thread."""

    max_sequences = MAX_SEQUENCES
    pads = False

    def __init__(self, path: Path) -> None:
        """Load ``path``. Raises SettingsError if it is not a model that llama.cpp can run."""
        library = _library()
        parameters = library.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self.handle = library.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self.handle:
            raise SettingsError(f"{path} is not a GGUF model that llama.cpp can load")
        self._vocabulary = library.llama_model_get_vocab(self.handle)
        self.size: int = library.llama_model_n_embd_out(self.handle)
        self.context_length: int = library.llama_model_n_ctx_train(self.handle)
        self.frame = find_frame(self._tokenize("a", special=False), self._tokenize("a", special=True))

    def tokenize(self, text: str) -> list[int]:
        """Return the text's token ids without special tokens; text that looks like one is plain text."""
        return self._tokenize(text, special=False)

    def workers(self, threads: int) -> int:
        """Return 1: the threads of a context share each batch."""
        return 1

    def open_context(self, pooling: Pooling, *, threads: int, batch_tokens: int) -> LlamaContext:
        """Allocate a context on the thread that will use it. Raises EngineError."""
        return LlamaContext(self, pooling, threads=threads, batch_tokens=batch_tokens)

    def close(self) -> None:
        """Free the model. Its contexts must be closed before."""
        if self.handle:
            _library().llama_model_free(self.handle)
            self.handle = None

    def _tokenize(self, text: str, *, special: bool) -> list[int]:
        library = _library()
        # A lone surrogate is not valid text; NUL ends a C string.
        data = text.encode("utf-8", "replace").replace(b"\0", b" ")
        room = len(data) + 8
        while True:
            tokens = (ctypes.c_int32 * room)()
            count = library.llama_tokenize(self._vocabulary, data, len(data), tokens, room, special, False)
            if count >= 0:
                return tokens[:count]
            room = -count


class LlamaContext:
    """Buffers for one batch at a time. Every call must come from the thread that created it."""

    def __init__(self, model: LlamaModel, pooling: Pooling, *, threads: int, batch_tokens: int) -> None:
        """Allocate the buffers for batches of ``batch_tokens`` at most. Raises EngineError if llama.cpp cannot."""
        library = _library()
        parameters = library.llama_context_default_params()
        # An encoder reads a batch at once, and more than n_ubatch tokens abort the process.
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = batch_tokens
        parameters.n_seq_max = MAX_SEQUENCES
        parameters.kv_unified = True  # otherwise a causal model splits n_ctx between the sequences
        parameters.embeddings = True
        parameters.pooling_type = _POOLING[pooling]
        parameters.flash_attn_type = library.LLAMA_FLASH_ATTN_TYPE_AUTO
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.no_perf = True
        self._model = model
        self._batch_tokens = batch_tokens
        self._handle = library.llama_init_from_model(model.handle, parameters)
        if not self._handle:
            raise EngineError("llama.cpp could not allocate a context")
        self._memory = library.llama_get_memory(self._handle)  # None for an encoder, which has no state
        self._batch = library.llama_batch_init(batch_tokens, 0, 1)

    def embed(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array of shape (len(sequences), size), float32, not normalised.

        Raises ValueError for no sequence, an empty one, or more than one batch holds; EngineError if
        llama.cpp refuses the batch.
        """
        total = sum(len(sequence) for sequence in sequences)
        if not sequences or not all(sequences):
            raise ValueError("a batch needs at least one sequence, and a sequence at least one token")
        if total > self._batch_tokens or len(sequences) > MAX_SEQUENCES:
            raise ValueError(f"{len(sequences)} sequences of {total} tokens are over one batch")
        self._fill(sequences)
        library = _library()
        if self._memory is None:
            status = library.llama_encode(self._handle, self._batch)
        else:
            library.llama_memory_clear(self._memory, False)
            status = library.llama_decode(self._handle, self._batch)
        if status != 0:
            raise EngineError(f"llama.cpp refused a batch of {total} tokens (status {status})")
        return self._read(len(sequences))

    def close(self) -> None:
        """Free the buffers. Safe to call twice."""
        if self._handle:
            _library().llama_batch_free(self._batch)
            _library().llama_free(self._handle)
            self._handle = None

    def _fill(self, sequences: Sequence[Sequence[int]]) -> None:
        batch, index = self._batch, 0
        for number, sequence in enumerate(sequences):
            for position, token in enumerate(sequence):
                batch.token[index] = token
                batch.pos[index] = position
                batch.n_seq_id[index] = 1
                batch.seq_id[index][0] = number
                batch.logits[index] = 1
                index += 1
        batch.n_tokens = index

    def _read(self, count: int) -> NDArray[np.float32]:
        library = _library()
        rows = np.empty((count, self._model.size), dtype=np.float32)
        for number in range(count):
            row = library.llama_get_embeddings_seq(self._handle, number)
            if not row:
                raise EngineError("llama.cpp returned no embedding for a sequence")
            rows[number] = np.ctypeslib.as_array(row, (self._model.size,))
        return rows
