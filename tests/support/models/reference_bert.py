"""A BERT forward pass and its tokenizer in plain numpy, to compare llama.cpp with."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float64]


class ReferenceBert:
    """Reads the published weights; mean pooling, L2 norm 1."""

    def __init__(self, directory: Path) -> None:
        self._weights: dict[str, Array] = {
            name: tensor.astype(np.float64)
            for name, tensor in load_file(directory / "model.safetensors").items()
            if tensor.dtype == np.float32
        }
        config: dict[str, Any] = json.loads((directory / "config.json").read_text())
        self._layers, self._heads = config["num_hidden_layers"], config["num_attention_heads"]
        words = (directory / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
        self._ids = {word: number for number, word in enumerate(words)}

    def embed(self, text: str) -> Array:
        states = self._states([self._ids["[CLS]"], *self.tokenize(text), self._ids["[SEP]"]])
        mean = states.mean(axis=0)
        unit: Array = mean / np.linalg.norm(mean)
        return unit

    def tokenize(self, text: str) -> list[int]:
        return [self._ids[piece] for word in _words(text) for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[str]:
        pieces: list[str] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self._ids:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return ["[UNK]"]
        return pieces

    def _states(self, ids: list[int]) -> Array:
        embeddings = "embeddings"
        states = (
            self._weights[f"{embeddings}.word_embeddings.weight"][ids]
            + self._weights[f"{embeddings}.position_embeddings.weight"][: len(ids)]
            + self._weights[f"{embeddings}.token_type_embeddings.weight"][0]
        )
        states = self._norm(states, f"{embeddings}.LayerNorm")
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            attended = self._linear(
                self._attention(states, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            states = self._norm(states + attended, f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._linear(states, f"{layer}.intermediate.dense"))
            states = self._norm(states + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return states

    def _attention(self, states: Array, name: str) -> Array:
        query, key, value = (self._split(self._linear(states, f"{name}.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed: Array = (weights / weights.sum(axis=-1, keepdims=True)) @ value
        return mixed.transpose(1, 0, 2).reshape(states.shape)

    def _split(self, states: Array) -> Array:
        return states.reshape(len(states), self._heads, -1).transpose(1, 0, 2)

    def _linear(self, states: Array, name: str) -> Array:
        result: Array = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        result: Array = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result


def _gelu(values: Array) -> Array:
    # Abramowitz and Stegun 7.1.26: the error function to 1.5e-7, without a dependency
    x = np.abs(values) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * x)
    polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(values) * (1 - polynomial * np.exp(-(x**2)))
    result: Array = values * 0.5 * (1 + erf)
    return result


def _words(text: str) -> list[str]:
    kept = "".join(c for c in text if c in "\t\n\r" or not unicodedata.category(c).startswith("C"))
    plain = "".join(c for c in unicodedata.normalize("NFD", kept.lower()) if unicodedata.category(c) != "Mn")
    spaced = "".join(f" {c} " if _stands_alone(c) else c for c in plain)
    return spaced.split()


def _stands_alone(char: str) -> bool:
    ascii_symbol = char in "$+<=>^`|~"
    return ascii_symbol or unicodedata.category(char).startswith("P") or "\u4e00" <= char <= "\u9fff"
