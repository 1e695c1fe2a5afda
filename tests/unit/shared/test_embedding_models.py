"""What the registry says of each model: a wrong card gives poor vectors without a word."""

from __future__ import annotations

from typing import Any

import pytest

from vicw_shared.embedding_models import DEFAULT_MODEL, MODELS, ModelFormat, Pooling
from vicw_shared.settings import EmbeddingSettings

CARDS: dict[str, dict[str, Any]] = {
    "snowflake-arctic-embed-l-v2.0": {
        "format": ModelFormat.GGUF,
        "size": 1024,
        "pooling": Pooling.CLS,
        "max_tokens": 512,
        "query_prefix": "query: ",
        "repository": "Casual-Autopsy/snowflake-arctic-embed-l-v2.0-gguf",
        "file": "snowflake-arctic-embed-l-v2.0-q8_0.gguf",
        "smallest_size": 256,
    },
    "multilingual-e5-small": {
        "format": ModelFormat.ONNX,
        "size": 384,
        "pooling": Pooling.MEAN,
        "max_tokens": 512,
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "licence": "MIT",
        "repository": "Xenova/multilingual-e5-small",
        "file": "onnx/model_quantized.onnx",
        "smallest_size": None,
    },
    "all-MiniLM-L6-v2-gguf": {
        "format": ModelFormat.GGUF,
        "size": 384,
        "pooling": Pooling.MEAN,
        "max_tokens": 256,
        "query_prefix": "",
        "repository": "second-state/All-MiniLM-L6-v2-Embedding-GGUF",
        "file": "all-MiniLM-L6-v2-Q8_0.gguf",
        "smallest_size": None,
    },
    "Qwen3-Embedding-0.6B": {
        "format": ModelFormat.GGUF,
        "size": 1024,
        "pooling": Pooling.LAST,
        "max_tokens": 512,
        "query_prefix": "Instruct: Given a question, retrieve passages that answer it\nQuery:",
        "repository": "Qwen/Qwen3-Embedding-0.6B-GGUF",
        "file": "Qwen3-Embedding-0.6B-Q8_0.gguf",
        "smallest_size": 32,
    },
    "all-MiniLM-L6-v2": {
        "size": 384,
        "pooling": Pooling.MEAN,
        "max_tokens": 256,
        "query_prefix": "",
        "repository": None,
        "file": None,
        "smallest_size": None,
    },
}


@pytest.mark.parametrize("name", CARDS)
def test_a_model_card_has_the_pinned_parameters_of_its_model(name: str) -> None:
    card = MODELS[name]
    expected = {"licence": "Apache-2.0", "passage_prefix": "", **CARDS[name]}
    assert {field: getattr(card, field) for field in expected} == expected
    assert card.name == name
    assert card.cost is not None
    assert (card.cost.download_mb == 0) == (card.file is None)


def test_every_model_card_is_pinned_and_the_default_is_minilm() -> None:
    assert MODELS.keys() == CARDS.keys()
    assert EmbeddingSettings.model_fields["model"].default == DEFAULT_MODEL == "all-MiniLM-L6-v2"
