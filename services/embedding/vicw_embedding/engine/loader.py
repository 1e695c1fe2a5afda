"""Choose the engine by the model's format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_shared.embedding_models import ModelFormat

if TYPE_CHECKING:
    from vicw_embedding.engine.port import Model
    from vicw_embedding.models.model_files import ModelFile


def load(file: ModelFile) -> Model:
    """Load the model into memory; an engine is imported only for its own format.

    Raises SettingsError if a file is damaged or of another kind of model, or the engine is not installed.
    """
    if file.card.format is ModelFormat.GGUF:
        from vicw_embedding.engine.llama import LlamaModel

        return LlamaModel(file.path)
    from vicw_embedding.engine.onnx import OnnxModel

    return OnnxModel(file.path, file.tokenizer or file.path.with_name("tokenizer.json"), file.card.max_tokens)
