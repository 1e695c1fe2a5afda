"""Model files: their location, their cards, and the identity of their vectors."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_embedding.models import digests
from vicw_embedding.models.cards import read_gguf_card, read_onnx_card
from vicw_shared.embedding_models import CONVERTED_MINILM, MODELS, EmbeddingModel, ModelFormat
from vicw_shared.errors import SettingsError
from vicw_shared.ports import ModelIdentity

if TYPE_CHECKING:
    from vicw_shared.settings.concerns import EmbeddingSettings

KNOWN = f"Name one of {', '.join(MODELS)} (`vicw model list` describes them)"
"""Fix for an unknown name, on the command line or in a variable."""
TOKENIZER = "tokenizer.json"
_ENGINES = {ModelFormat.GGUF: "llama_cpp", ModelFormat.ONNX: "onnxruntime"}
_ONNX_NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model ready to load: its card, its file, its digest, and the tokenizer of an ONNX file.

    The digest is the SHA-256 of a GGUF file; for an ONNX file, that of the digests of all files that make its vectors.
    """

    card: EmbeddingModel
    path: Path
    digest: str
    tokenizer: Path | None = None


def resolve(settings: EmbeddingSettings, models_dir: Path) -> ModelFile:
    """Return the model that the settings name: a registered one, or the path of a GGUF or ONNX file or of its folder.

    Raises SettingsError if the name is unknown, the engine for it is not installed, or the file is missing (it names
    the command that gets it) or not an embedding model. A store records the digest of the file that made its vectors,
    and refuses another.
    """
    card = MODELS.get(settings.model)
    if card is None:
        path = _own_file(settings.model)
        card = read_card(path)
    else:
        path = location(card, models_dir)
    if problem := engine_problem(card):
        raise SettingsError(f"{card.name} cannot run here. {problem}")
    if not path.is_file():
        raise SettingsError(f"The model {card.name} is not in {models_dir}. Get it with: vicw model pull {card.name}")
    return describe(card, path, models_dir)


def identity(settings: EmbeddingSettings, models_dir: Path) -> ModelIdentity:
    """Return the identity that the embedding server of these settings reports, from files alone.

    Raises the errors of ``resolve``, and SettingsError if the model does not allow VICW_EMBEDDING_DIMENSIONS.
    """
    file = resolve(settings, models_dir)
    if problem := file.card.size_problem(settings.dimensions):
        raise SettingsError(f"VICW_EMBEDDING_DIMENSIONS: {problem}")
    return ModelIdentity(file.card.name, settings.dimensions or file.card.size, file.digest, WRAPPER_VERSION)


def location(card: EmbeddingModel, models_dir: Path) -> Path:
    """Return where the file of a registered model is, or would be after a pull. Raises SettingsError if it comes with
    a package that is not installed.
    """
    if card.file is None:
        return _installed_folder() / "model.onnx"
    if card.format is ModelFormat.ONNX:
        return models_dir / card.name / "model.onnx"
    return models_dir / Path(card.file).name


def find_by_identity(known: ModelIdentity, models_dir: Path) -> Path | None:
    """Return the GGUF file in ``models_dir`` that made the vectors of a store, if it is there.

    Only its path names it: no registered name does, or no longer.
    """
    for path in sorted(models_dir.glob("*.gguf")):
        try:
            if digests.of_file(path, models_dir) == known.digest and read_card(path).name == known.name:
                return path
        except (OSError, SettingsError):
            continue
    return None


def engine_problem(card: EmbeddingModel) -> str | None:
    """Return what to do if the engine that runs this model is not installed; None if it is."""
    if importlib.util.find_spec(_ENGINES[card.format]) is not None:
        return None
    if card.format is ModelFormat.GGUF:
        return "GGUF models need llama.cpp: pip install 'vicw[gguf]' (it is compiled), or use an ONNX model"
    return "ONNX models need onnxruntime: pip install onnxruntime tokenizers, or use a GGUF model"


def describe(card: EmbeddingModel, path: Path, models_dir: Path) -> ModelFile:
    """Return the model in this file, with its digest. Raises SettingsError if an ONNX file has no tokenizer."""
    if card.format is ModelFormat.GGUF:
        return ModelFile(card, path, digests.of_file(path, models_dir))
    folders = [path.parent, path.parent.parent] if path.parent.name == "onnx" else [path.parent]
    tokenizer = next((folder / TOKENIZER for folder in folders if (folder / TOKENIZER).is_file()), None)
    if tokenizer is None:
        raise SettingsError(f"{path} has no {TOKENIZER} beside it: an ONNX model needs the one it was trained with")
    # Large models keep their weights in a second file.
    weights = sorted(file for file in path.parent.glob(f"{path.name}[._]*") if file.name.endswith("data"))
    return ModelFile(card, path, digests.of_files([path, tokenizer, *weights], models_dir), tokenizer)


def read_card(path: Path) -> EmbeddingModel:
    """Return the card of a GGUF or ONNX file, from what it says of itself. Raises SettingsError if it is no embedding
    model.
    """
    if not _is_gguf(path):
        return read_onnx_card(path)
    return CONVERTED_MINILM if path.name == CONVERTED_MINILM.file else read_gguf_card(path)


def _installed_folder() -> Path:
    package = importlib.util.find_spec("vicw_minilm")
    if package is None or package.origin is None:
        raise SettingsError(
            "The package vicw-minilm, which holds the default model, is not installed. Install VICW again, or choose "
            "another model with VICW_EMBEDDING_MODEL."
        )
    return Path(package.origin).parent


def _own_file(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        return _file_in(path)
    if not path.exists() and (path.suffix in {".gguf", ".onnx"} or len(path.parts) > 1):
        raise SettingsError(f"{name} does not exist. {KNOWN}, or name a file or its folder")
    if not path.is_file():
        raise SettingsError(
            f"{name} is neither a registered model nor a GGUF or ONNX file. {KNOWN}, or name a file or its folder"
        )
    return path


def _file_in(folder: Path) -> Path:
    known = [folder / name for name in _ONNX_NAMES if (folder / name).is_file()]
    found = known[:1] or sorted(folder.glob("*.gguf")) or sorted(folder.glob("*.onnx"))
    if len(found) != 1:
        count = "several model files: name one of them" if found else "no model.onnx and no GGUF file"
        raise SettingsError(f"{folder} has {count}")
    return found[0]


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from error
