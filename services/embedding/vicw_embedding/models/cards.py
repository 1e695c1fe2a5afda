"""Cards of models that are named by their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vicw_embedding.models.onnx_file import read_outline
from vicw_shared.embedding_models import EmbeddingModel, ModelFormat, Pooling
from vicw_shared.errors import SettingsError

MAX_WINDOW_TOKENS = 512
_POOLINGS = {"mean_tokens": Pooling.MEAN, "cls_token": Pooling.CLS, "lasttoken": Pooling.LAST}


def read_gguf_card(path: Path) -> EmbeddingModel:
    """Return the card of a GGUF from its metadata. Raises SettingsError if it is not an embedding model.

    Default pooling: the mean for an encoder, the last token for a causal model.
    """
    try:
        import gguf
    except ImportError as error:
        raise SettingsError(
            f"{path} is a GGUF file, which needs llama.cpp: pip install 'vicw[gguf]' (it is compiled), or use an ONNX "
            "model"
        ) from error
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, OSError) as error:
        raise SettingsError(f"{path} is not a readable GGUF file, or it is cut off: fetch it again") from error

    def value(key: str, default: Any = None) -> Any:
        field = reader.get_field(key)
        return default if field is None else field.contents()

    architecture = value("general.architecture")
    size = value(f"{architecture}.embedding_length_out") or value(f"{architecture}.embedding_length")
    if not size:
        raise SettingsError(f"{path} does not name the size of its vectors: it is not an embedding model")
    causal = value(f"{architecture}.attention.causal", True)
    poolings = {1: Pooling.MEAN, 2: Pooling.CLS, 3: Pooling.LAST}
    default = Pooling.LAST if causal else Pooling.MEAN
    return EmbeddingModel(
        name=path.stem,
        format=ModelFormat.GGUF,
        size=int(size),
        pooling=poolings.get(value(f"{architecture}.pooling_type", 0), default),
        max_tokens=min(int(value(f"{architecture}.context_length", MAX_WINDOW_TOKENS)), MAX_WINDOW_TOKENS),
        licence=str(value("general.license", "unknown")),
        smallest_size=1,  # the file does not name it; the user of an own file decides
    )


def read_onnx_card(path: Path) -> EmbeddingModel:
    """Return the card of an ONNX file, from its graph and the files of sentence-transformers that lie beside it.

    Defaults: the mean of the tokens, windows of 512 tokens. Raises SettingsError if it is not an embedding model.
    """
    outline = read_outline(path)
    if "input_ids" not in outline.inputs:
        inputs = ", ".join(sorted(outline.inputs)) or "nothing"
        raise SettingsError(f"{path} takes {inputs} instead of input_ids: it is not a text embedding model")
    folder = path.parent.parent if path.parent.name == "onnx" else path.parent
    config = _read(folder / "config.json")
    sizes = [shape[-1] for shape in outline.outputs.values() if len(shape) in {2, 3} and shape[-1]]
    size = (sizes[0] if sizes else None) or config.get("hidden_size")
    if not isinstance(size, int):
        raise SettingsError(
            f"{path} does not name the size of its vectors, and {folder / 'config.json'} has no hidden_size: it is not "
            "an embedding model, or its config.json is missing"
        )
    lengths = (
        _read(folder / "sentence_bert_config.json").get("max_seq_length"),
        _read(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    return EmbeddingModel(
        name=folder.name if path.stem.startswith("model") else path.stem,
        format=ModelFormat.ONNX,
        size=size,
        pooling=_pooling(folder),
        max_tokens=min([MAX_WINDOW_TOKENS, *(int(length) for length in lengths if isinstance(length, (int, float)))]),
        licence="unknown",
        smallest_size=1,
    )


def _pooling(folder: Path) -> Pooling:
    modes = _read(folder / "1_Pooling" / "config.json")
    return next((pooling for mode, pooling in _POOLINGS.items() if modes.get(f"pooling_mode_{mode}")), Pooling.MEAN)


def _read(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; {} if the file is missing."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} is not readable: {error}") from error
    if not isinstance(content, dict):
        raise SettingsError(f"{path} is not a JSON object")
    return content
