"""A GGUF of the production model's exact shape with random weights: right in speed and memory, and meaningless."""

from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

import gguf
import numpy as np

LAYERS, SIZE, FEED_FORWARD, HEADS, POSITIONS, VOCABULARY = 24, 1024, 4096, 16, 8192, 250_002
_LETTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]


def vocabulary() -> list[str]:
    """Return 250,002 pieces as SentencePiece has them; most are words of three to nine letters."""
    chance = random.Random(7)
    pieces = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", "\u2581", *_LETTERS, *(f"\u2581{c}" for c in _LETTERS)])
    while len(pieces) < VOCABULARY:
        word = "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9)))
        pieces[f"\u2581{word}"] = None
    return list(pieces)


def make(path: Path) -> None:
    """Write the model: an encoder with CLS pooling like snowflake-arctic-embed-l-v2.0, quantised to Q8_0."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(8192)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.CLS)
    writer.add_token_type_count(1)
    _tokenizer(writer)
    chance = np.random.default_rng(7)
    for name, shape in _shapes().items():
        _tensor(writer, name, chance.standard_normal(shape, dtype=np.float32) * 0.02)
    for name in _norms():
        writer.add_tensor(f"{name}.weight", np.ones(SIZE, dtype=np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(SIZE, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tokenizer(writer: Any) -> None:
    pieces = vocabulary()
    kinds = gguf.TokenType
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(pieces)
    writer.add_token_scores([0.0] * 4 + [-8.0 - 8.0 / len(piece) for piece in pieces[4:]])
    writer.add_token_types([kinds.CONTROL] * 3 + [kinds.UNKNOWN] + [kinds.NORMAL] * (len(pieces) - 4))
    writer.add_add_space_prefix(True)
    writer.add_bos_token_id(0)
    writer.add_pad_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _tensor(writer: Any, name: str, weights: Any) -> None:
    quantised = weights.ndim == 2 and not name.startswith(("position", "token_types"))
    kind = gguf.GGMLQuantizationType.Q8_0
    if quantised:
        writer.add_tensor(name, gguf.quants.quantize(weights, kind), raw_dtype=kind)
    else:
        writer.add_tensor(name, weights)


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (VOCABULARY, SIZE),
        "position_embd.weight": (POSITIONS, SIZE),
        "token_types.weight": (1, SIZE),
    }
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{layer}.{part}.weight"] = (SIZE, SIZE)
            shapes[f"blk.{layer}.{part}.bias"] = (SIZE,)
        shapes[f"blk.{layer}.ffn_up.weight"] = (FEED_FORWARD, SIZE)
        shapes[f"blk.{layer}.ffn_up.bias"] = (FEED_FORWARD,)
        shapes[f"blk.{layer}.ffn_down.weight"] = (SIZE, FEED_FORWARD)
        shapes[f"blk.{layer}.ffn_down.bias"] = (SIZE,)
    return shapes


def _norms() -> list[str]:
    layers = [f"blk.{layer}.{part}" for layer in range(LAYERS) for part in ("attn_output_norm", "layer_output_norm")]
    return ["token_embd_norm", *layers]
