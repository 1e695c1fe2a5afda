"""Registry of embedding models, with the settings that give each its best vectors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """How token vectors become one vector."""

    MEAN = "mean"
    CLS = "cls"
    LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A known embedding model.

    ``repository`` and ``file`` name the GGUF on the model hub; both are None for the model with weights in a Python
    package. ``size`` is the number of dimensions, ``max_tokens`` the window beyond which a text is embedded in parts,
    ``smallest_size`` the smallest size to which its vectors may be cut (None: never).
    """

    name: str
    size: int
    pooling: Pooling
    max_tokens: int
    licence: str
    query_prefix: str = ""
    repository: str | None = None
    file: str | None = None
    smallest_size: int | None = None
    summary: str = ""


DEFAULT_MODEL = "all-MiniLM-L6-v2"

MODELS: dict[str, EmbeddingModel] = {
    model.name: model
    for model in (
        EmbeddingModel(
            name="snowflake-arctic-embed-l-v2.0",
            size=1024,
            pooling=Pooling.CLS,
            max_tokens=512,
            licence="Apache-2.0",
            query_prefix="query: ",
            repository="Casual-Autopsy/snowflake-arctic-embed-l-v2.0-gguf",
            file="snowflake-arctic-embed-l-v2.0-q8_0.gguf",
            smallest_size=256,
            summary="the platform's model: multilingual, 1024-d, 634 MB",
        ),
        EmbeddingModel(
            name="Qwen3-Embedding-0.6B",
            size=1024,
            pooling=Pooling.LAST,
            max_tokens=512,
            licence="Apache-2.0",
            query_prefix=("Instruct: Given a question, retrieve passages that answer it\nQuery:"),
            repository="Qwen/Qwen3-Embedding-0.6B-GGUF",
            file="Qwen3-Embedding-0.6B-Q8_0.gguf",
            smallest_size=32,
            summary="instruction-tuned, multilingual, 1024-d, 639 MB",
        ),
        EmbeddingModel(
            name=DEFAULT_MODEL,
            size=384,
            pooling=Pooling.MEAN,
            max_tokens=256,
            licence="Apache-2.0",
            summary="small English model, 384-d, 25 MB; comes with the installation, no download",
        ),
    )
}
