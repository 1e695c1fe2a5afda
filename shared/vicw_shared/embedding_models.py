"""Registry of embedding models, with the settings that give each its best vectors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """How token vectors become one vector."""

    MEAN = "mean"
    CLS = "cls"
    LAST = "last"


class ModelFormat(StrEnum):
    """The format of a model's file, and with it the engine that runs it."""

    ONNX = "onnx"
    """``model.onnx`` with its ``tokenizer.json``: onnxruntime, always installed."""
    GGUF = "gguf"
    """One file: llama.cpp, the extra ``gguf``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """What a model takes: megabytes to download (0: it is installed) and in memory, and the processor time of a text in
    multiples of the default model's. Rounded, on x86-64 with AVX-512: only a guide.
    """

    download_mb: int
    memory_mb: int
    relative_time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A known embedding model.

    ``repository`` and ``file`` name its file on the model hub, an ONNX file's tokenizer is at the top of the
    repository; both are None for the model that is installed as a Python package. ``size`` is the number of dimensions,
    ``max_tokens`` the window beyond which a text is embedded in parts, ``smallest_size`` the smallest size to which its
    vectors may be cut (None: never).
    """

    name: str
    format: ModelFormat
    size: int
    pooling: Pooling
    max_tokens: int
    licence: str
    languages: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    repository: str | None = None
    file: str | None = None
    smallest_size: int | None = None
    summary: str = ""
    cost: ModelCost | None = None

    def size_problem(self, dimensions: int | None) -> str | None:
        """Return why vectors cannot be cut to ``dimensions``; None if they can."""
        if dimensions is None or dimensions == self.size:
            return None
        if self.smallest_size is None:
            return f"{self.name} has {self.size} dimensions and does not support fewer"
        if not self.smallest_size <= dimensions < self.size:
            return f"{self.name} supports {self.smallest_size} to {self.size} dimensions"
        return None


DEFAULT_MODEL = "all-MiniLM-L6-v2"

CONVERTED_MINILM = EmbeddingModel(
    name=DEFAULT_MODEL,
    format=ModelFormat.GGUF,
    size=384,
    pooling=Pooling.MEAN,
    max_tokens=256,
    licence="Apache-2.0",
    languages="English",
    file="all-MiniLM-L6-v2-q8_0.gguf",
)
"""The file that VICW made of the default model while llama.cpp ran it: stores that it filled know it by this name."""

MODELS: dict[str, EmbeddingModel] = {
    model.name: model
    for model in (
        EmbeddingModel(
            name=DEFAULT_MODEL,
            format=ModelFormat.ONNX,
            size=384,
            pooling=Pooling.MEAN,
            max_tokens=256,
            licence="Apache-2.0",
            languages="English",
            summary="the default; comes with the installation",
            cost=ModelCost(download_mb=0, memory_mb=290, relative_time=1),
        ),
        EmbeddingModel(
            name="multilingual-e5-small",
            format=ModelFormat.ONNX,
            size=384,
            pooling=Pooling.MEAN,
            max_tokens=512,
            licence="MIT",
            languages="about 100",
            query_prefix="query: ",
            passage_prefix="passage: ",
            repository="Xenova/multilingual-e5-small",
            file="onnx/model_quantized.onnx",
            summary="small and multilingual",
            cost=ModelCost(download_mb=135, memory_mb=700, relative_time=2),
        ),
        EmbeddingModel(
            name="all-MiniLM-L6-v2-gguf",
            format=ModelFormat.GGUF,
            size=384,
            pooling=Pooling.MEAN,
            max_tokens=256,
            licence="Apache-2.0",
            languages="English",
            repository="second-state/All-MiniLM-L6-v2-Embedding-GGUF",
            file="all-MiniLM-L6-v2-Q8_0.gguf",
            summary="the default model for llama.cpp",
            cost=ModelCost(download_mb=25, memory_mb=115, relative_time=2.5),
        ),
        EmbeddingModel(
            name="snowflake-arctic-embed-l-v2.0",
            format=ModelFormat.GGUF,
            size=1024,
            pooling=Pooling.CLS,
            max_tokens=512,
            licence="Apache-2.0",
            languages="about 70",
            query_prefix="query: ",
            repository="Casual-Autopsy/snowflake-arctic-embed-l-v2.0-gguf",
            file="snowflake-arctic-embed-l-v2.0-q8_0.gguf",
            smallest_size=256,
            summary="the platform's full size: the best vectors of these",
            cost=ModelCost(download_mb=634, memory_mb=900, relative_time=50),
        ),
        EmbeddingModel(
            name="Qwen3-Embedding-0.6B",
            format=ModelFormat.GGUF,
            size=1024,
            pooling=Pooling.LAST,
            max_tokens=512,
            licence="Apache-2.0",
            languages="about 100",
            query_prefix=("Instruct: Given a question, retrieve passages that answer it\nQuery:"),
            repository="Qwen/Qwen3-Embedding-0.6B-GGUF",
            file="Qwen3-Embedding-0.6B-Q8_0.gguf",
            smallest_size=32,
            summary="instruction-tuned",
            cost=ModelCost(download_mb=639, memory_mb=950, relative_time=75),
        ),
    )
}
