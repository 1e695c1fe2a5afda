"""The package ``vicw-minilm``: the published weights, rounded to 8 bits, in a graph of our own."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from support.models.minilm_gguf import source_dir
from vicw_embedding.models.model_files import read_card
from vicw_minilm import FOLDER
from vicw_shared.embedding_models import DEFAULT_MODEL, MODELS

_MAKER = Path(__file__).resolve().parents[4] / "minilm" / "make_model.py"


@pytest.fixture(scope="module")
def tensors() -> dict[str, NDArray[Any]]:
    kinds = {1: np.float32, 3: np.int8, 7: np.int64}
    read = runpy.run_path(str(_MAKER))["read_tensors"]((FOLDER / "model.onnx").read_bytes())
    return {name: np.frombuffer(each.data, kinds[each.kind]).reshape(each.shape) for name, each in read}


@pytest.fixture(scope="module")
def published() -> dict[str, NDArray[np.float32]]:
    weights: dict[str, NDArray[np.float32]] = load_file(source_dir() / "model.safetensors")
    return weights


def test_a_build_always_makes_these_bytes() -> None:
    # Every store that this model fills remembers them: others are another version of the package.
    assert hashlib.sha256((FOLDER / "model.onnx").read_bytes()).hexdigest() == (
        "56da89d1baaeccdd942abf1c4c9320f20bc0060d68ca3d1aa6b58fee3833c8bd"
    )


def test_the_tokenizer_is_the_published_one() -> None:
    assert (FOLDER / "tokenizer.json").read_bytes() == (source_dir() / "tokenizer.json").read_bytes()


def test_its_matrices_are_the_published_ones_rounded_to_8_bits(
    tensors: dict[str, NDArray[Any]], published: dict[str, NDArray[np.float32]]
) -> None:
    for name in (name.removesuffix(".q") for name in tensors if name.endswith(".q")):
        weight, axis = _weight(name, published)
        scale = np.abs(weight).max(axis=axis, keepdims=True) / 127
        assert np.array_equal(tensors[f"{name}.scale"], scale), name
        assert np.array_equal(tensors[f"{name}.q"], np.rint(weight / scale)), name


def test_its_other_parameters_are_the_published_ones(
    tensors: dict[str, NDArray[Any]], published: dict[str, NDArray[np.float32]]
) -> None:
    same = [name for name in tensors if name in published]
    assert len(same) == 2 + 6 * 7  # biases and normalisations
    assert all(np.array_equal(tensors[name], published[name]) for name in same)
    assert np.array_equal(tensors["type"], published["embeddings.token_type_embeddings.weight"][:1])
    for layer in range(6):
        prefix = f"encoder.layer.{layer}.attention.self"
        parts = [published[f"{prefix}.{part}.bias"] for part in ("query", "key", "value")]
        assert np.array_equal(tensors[f"{prefix}.bias"], np.concatenate(parts))


def _weight(name: str, published: dict[str, NDArray[np.float32]]) -> tuple[NDArray[np.float32], int]:
    """Return a matrix as the graph has it, and the axis over which a scale is shared."""
    if name == "words":
        return published["embeddings.word_embeddings.weight"], 1
    if name == "positions.weight":
        return published["embeddings.position_embeddings.weight"], 1
    if name.endswith("attention.self.weight"):
        parts = [published[name.replace("weight", f"{part}.weight")] for part in ("query", "key", "value")]
        return np.concatenate(parts).T, 0
    return published[name].T, 0


def test_named_by_its_path_it_is_read_as_by_its_name() -> None:
    by_path, by_name = read_card(FOLDER / "model.onnx"), MODELS[DEFAULT_MODEL]
    assert (by_path.size, by_path.pooling, by_path.max_tokens) == (by_name.size, by_name.pooling, by_name.max_tokens)
