"""ONNX models, run by onnxruntime on the processor.

All contexts share one session, which computes on the thread that calls it: the weights are in memory once, a lane's
threads have their own priority, and no thread of the library spins or waits for another.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicw_embedding.engine.onnx_tokenizer import OnnxTokenizer
from vicw_embedding.engine.port import EngineError
from vicw_shared.embedding_models import Pooling
from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

MAX_SEQUENCES = 64
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_SENTENCES, _TOKENS = "sentence_embedding", ("last_hidden_state", "token_embeddings")
_SPARE_IDS = 1024
"""So many more ids than its tokenizer may a model know: sizes are rounded up."""
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@functools.cache
def _library() -> Any:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)  # what fails is raised, too
    onnxruntime.disable_telemetry_events()
    return onnxruntime


class _Output(NamedTuple):
    name: str
    pooled: bool


class OnnxModel:
    """An ONNX file in memory, with its tokenizer. Its methods may be called from any thread."""

    pads = True

    def __init__(self, path: Path, tokenizer: Path, max_tokens: int) -> None:
        """Load the files; ``max_tokens`` is the longest window that will be read.

        Raises SettingsError if one is missing or damaged, or they are no text embedding model.
        """
        self._path = path
        self._tokenizer = OnnxTokenizer(tokenizer)
        self._session = _open(path)
        self._inputs = _inputs(path, self._session)
        self._output = _output(path, self._session)
        self.frame = self._tokenizer.frame
        self.context_length = max_tokens
        self.max_sequences = MAX_SEQUENCES if "attention_mask" in self._inputs and not _depends_on_batch(path) else 1
        self.size = self._probe(tokenizer)
        _return_memory()

    def tokenize(self, text: str) -> list[int]:
        """Return the text's token ids without special tokens; text that looks like one is plain text."""
        return self._tokenizer.tokenize(text)

    def workers(self, threads: int) -> int:
        """Return ``threads``: batches are computed side by side, each on one core."""
        return threads

    def open_context(self, pooling: Pooling, *, threads: int, batch_tokens: int) -> OnnxContext:
        """Return a context for batches of ``batch_tokens`` at most, padding included."""
        return OnnxContext(self, pooling, batch_tokens)

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self._session = None

    def run(self, sequences: Sequence[Sequence[int]], pooling: Pooling) -> NDArray[np.float32]:
        """Return an array of shape (len(sequences), size), float32, not normalised. Raises EngineError."""
        lengths = [len(sequence) for sequence in sequences]
        shape = len(sequences), max(lengths)
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        values = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros(shape, np.int64),
            "position_ids": np.broadcast_to(np.arange(shape[1]), shape),
        }
        feed = {name: values[name].astype(kind) for name, kind in self._inputs.items()}
        try:
            (states,) = self._session.run([self._output.name], feed)
        except Exception as error:  # the library's errors have no common class
            raise EngineError(f"onnxruntime refused a batch of {shape[0]} x {shape[1]} tokens: {error}") from error
        rows = states if self._output.pooled else _pool(states, lengths, pooling)
        return rows.astype(np.float32, copy=False)

    def _probe(self, tokenizer: Path) -> int:
        """Return the size of vectors. Raises SettingsError if the model cannot read what the lanes will give it."""
        last, length = self._tokenizer.vocabulary - 1, self.context_length
        try:
            rows = self.run([[last] * length], Pooling.MEAN)
        except EngineError as error:
            raise SettingsError(self._reason(tokenizer, last, length)) from error
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise SettingsError(f"{self._path} gives no finite vectors in {self._output.name}: fetch it again")
        if self._reads([last + _SPARE_IDS]):
            raise SettingsError(
                f"{self._path} knows more tokens than the {last + 1} of {tokenizer}: put the tokenizer.json that was "
                "published with the model there"
            )
        size: int = rows.shape[1]
        return size

    def _reason(self, tokenizer: Path, last: int, length: int) -> str:
        if not self._reads([0, 0]):
            return f"{self._path} cannot be run: fetch it again, or choose another model"
        if not self._reads([last]):
            return (
                f"{self._path} knows fewer tokens than the {last + 1} of {tokenizer}: put the tokenizer.json that was "
                "published with the model there"
            )
        return f"{self._path} cannot read {length} tokens at once: state its smaller limit in the model's config.json"

    def _reads(self, sequence: list[int]) -> bool:
        try:
            self.run([sequence], Pooling.MEAN)
        except EngineError:
            return False
        return True


class OnnxContext:
    """Checks and computes one batch at a time."""

    def __init__(self, model: OnnxModel, pooling: Pooling, batch_tokens: int) -> None:
        """``batch_tokens``: tokens of a batch at most, padding included."""
        self._model = model
        self._pooling = pooling
        self._batch_tokens = batch_tokens

    def embed(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array of shape (len(sequences), size), float32, not normalised.

        Raises ValueError for no sequence, an empty one, or more than one batch holds, padding included; EngineError if
        onnxruntime refuses the batch.
        """
        if not sequences or not all(sequences):
            raise ValueError("a batch needs at least one sequence, and a sequence at least one token")
        total = len(sequences) * max(len(sequence) for sequence in sequences)
        if total > self._batch_tokens or len(sequences) > self._model.max_sequences:
            raise ValueError(f"{len(sequences)} sequences of {total} tokens are over one batch")
        return self._model.run(sequences, self._pooling)

    def close(self) -> None:
        """Nothing to free."""


def _open(path: Path) -> Any:
    library = _library()
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The arena keeps the memory of the largest batch; patterns are of use only for inputs that keep their shape.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.graph_optimization_level = library.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4  # what fails is raised, too
    try:
        return library.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no common class
        raise SettingsError(
            f"{path} is no ONNX model that onnxruntime can load: fetch it again, with the files that were published "
            f"beside it ({error})"
        ) from error


def _return_memory() -> None:
    # Loading leaves 60 MiB free that the C library would keep.
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def _inputs(path: Path, session: Any) -> dict[str, Any]:
    shapes = {each.name: each.shape for each in session.get_inputs()}
    if "input_ids" not in shapes or not shapes.keys() <= set(_INPUTS):
        raise SettingsError(
            f"{path} takes {', '.join(shapes)}: not a text embedding model, which takes input_ids and at most "
            f"{', '.join(_INPUTS[1:])}. Choose another file"
        )
    if any(isinstance(size, int) for size in shapes["input_ids"]):
        raise SettingsError(
            f"{path} takes input_ids of the fixed shape {shapes['input_ids']}: choose a file with free axes"
        )
    return {each.name: _TYPES.get(each.type, np.int64) for each in session.get_inputs()}


def _output(path: Path, session: Any) -> _Output:
    outputs = {each.name: each.shape for each in session.get_outputs()}
    if _SENTENCES in outputs:
        return _Output(_SENTENCES, pooled=True)
    states = [name for name, shape in outputs.items() if len(shape) == 3 and name != "logits"]
    if name := next((name for name in (*_TOKENS, *states) if name in outputs), None):
        return _Output(name, pooled=False)
    raise SettingsError(
        f"{path} gives {', '.join(outputs)}: not a text embedding model, which gives {_TOKENS[0]} or {_SENTENCES}. "
        "Choose another file"
    )


def _depends_on_batch(path: Path) -> bool:
    """Return whether the scale of a batch's 8 bit integers comes from all its texts."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"DynamicQuantize") >= 0


def _pool(states: NDArray[np.float32], lengths: list[int], pooling: Pooling) -> NDArray[np.float32]:
    if pooling is Pooling.MEAN:
        return np.stack([row[:length].mean(axis=0) for row, length in zip(states, lengths, strict=True)])
    at = [0 if pooling is Pooling.CLS else length - 1 for length in lengths]
    rows: NDArray[np.float32] = states[np.arange(len(lengths)), at]
    return rows
