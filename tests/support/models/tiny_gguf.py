"""Builds tiny GGUF models with random weights: right in shape, fast, and meaningless."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from vicw_embedding.models.digests import sha256
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.embedding_models import EmbeddingModel, ModelFormat, Pooling

SIZE = 1024
BOS, EOS = 0, 2
_WORDS = "the of and build broke why because token key user query memory river stone time light".split()
WORDS_AND_LETTERS = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "\u2581",
    *(f"\u2581{word}" for word in _WORDS),
    *(f"\u2581{letter}" for letter in string.ascii_letters),
    *string.ascii_letters,
    *string.digits,
    *string.punctuation,
]
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]  # a SentencePiece model without them aborts on rare text


def encoder(path: Path) -> ModelFile:
    """Write a one-layer, 1024-d, XLM-R shaped encoder with CLS pooling, like the production model."""
    writer = gguf.GGUFWriter(path, "bert")
    _architecture(writer, feed_forward=256)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.CLS)
    writer.add_token_type_count(1)
    _tokenizer(writer, "t5", [])
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(WORDS_AND_LETTERS), SIZE),
        "position_embd.weight": (512, SIZE),
        "token_types.weight": (1, SIZE),
        "blk.0.attn_q.weight": (SIZE, SIZE),
        "blk.0.attn_k.weight": (SIZE, SIZE),
        "blk.0.attn_v.weight": (SIZE, SIZE),
        "blk.0.attn_output.weight": (SIZE, SIZE),
        "blk.0.ffn_up.weight": (256, SIZE),
        "blk.0.ffn_down.weight": (SIZE, 256),
        "blk.0.ffn_up.bias": (256,),
        **{f"blk.0.{name}.bias": (SIZE,) for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_down")},
    }
    norms = ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm")
    _write(writer, shapes, norms, keep_f32={"position_embd.weight", "token_types.weight"})
    return _card(path, Pooling.CLS, smallest_size=256)


def decoder(path: Path, template: str | None = None) -> ModelFile:
    """Write a one-layer, 1024-d causal model with last-token pooling, and a chat ``template`` if there is one."""
    writer = gguf.GGUFWriter(path, "llama")
    if template is not None:
        writer.add_chat_template(template)
    _architecture(writer, feed_forward=256)
    writer.add_head_count_kv(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE // 16)
    vocabulary = len(WORDS_AND_LETTERS) + len(_BYTES)
    writer.add_vocab_size(vocabulary)
    writer.add_pooling_type(gguf.PoolingType.LAST)
    _tokenizer(writer, "llama", _BYTES)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, SIZE),
        "output.weight": (vocabulary, SIZE),
        **{f"blk.0.attn_{name}.weight": (SIZE, SIZE) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (256, SIZE),
        "blk.0.ffn_up.weight": (256, SIZE),
        "blk.0.ffn_down.weight": (SIZE, 256),
    }
    _write(writer, shapes, ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"), keep_f32=set(), biased=False)
    return _card(path, Pooling.LAST)


def _architecture(writer: Any, feed_forward: int) -> None:
    writer.add_context_length(512)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(feed_forward)
    writer.add_block_count(1)
    writer.add_head_count(16)


def _tokenizer(writer: Any, kind: str, extra: list[str]) -> None:
    kinds = gguf.TokenType
    special = [kinds.CONTROL, kinds.CONTROL, kinds.CONTROL, kinds.UNKNOWN]
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre("default")
    writer.add_token_list(WORDS_AND_LETTERS + extra)
    writer.add_token_scores([0.0] * 4 + [-1.0 - 8.0 / len(token) for token in (WORDS_AND_LETTERS + extra)[4:]])
    writer.add_token_types(special + [kinds.NORMAL] * (len(WORDS_AND_LETTERS) - 4) + [kinds.BYTE] * len(extra))
    writer.add_add_space_prefix(True)
    writer.add_bos_token_id(BOS)
    writer.add_pad_token_id(1)
    writer.add_eos_token_id(EOS)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _write(
    writer: Any,
    shapes: dict[str, tuple[int, ...]],
    norms: tuple[str, ...],
    keep_f32: set[str],
    biased: bool = True,
) -> None:
    random = np.random.default_rng(7)
    for name, shape in shapes.items():
        weights = random.normal(0, 0.1, shape)
        half = len(shape) == 2 and name not in keep_f32
        writer.add_tensor(name, weights.astype(np.float16 if half else np.float32))
    for name in norms:
        writer.add_tensor(f"{name}.weight", np.ones(SIZE, dtype=np.float32))
        if biased:
            writer.add_tensor(f"{name}.bias", np.zeros(SIZE, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _card(path: Path, pooling: Pooling, smallest_size: int | None = None) -> ModelFile:
    card = EmbeddingModel(
        name=path.stem,
        format=ModelFormat.GGUF,
        size=SIZE,
        pooling=pooling,
        max_tokens=512,
        licence="none",
        smallest_size=smallest_size,
    )
    return ModelFile(card, path, sha256(path))
