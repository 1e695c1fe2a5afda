"""Model files: their location and their metadata."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicw_embedding.models import minilm
from vicw_shared.embedding_models import MODELS, EmbeddingModel, Pooling
from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from vicw_shared.settings.concerns import EmbeddingSettings

MAX_WINDOW_TOKENS = 512
KNOWN = f"Name one of {', '.join(MODELS)} (`vicw model list` describes them)"
"""Fix for an unknown name, on the command line or in a variable."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model ready to load: its card, its file, and the SHA-256 of that file."""

    card: EmbeddingModel
    path: Path
    digest: str


def resolve(settings: EmbeddingSettings, models_dir: Path) -> ModelFile:
    """Return the model that the settings name: a registered one, or the path of any GGUF.

    Unpacks the model of the installation into ``models_dir``. Raises SettingsError if the name is unknown, or the file
    is missing (it names the command that gets it) or not an embedding model. A store records the SHA-256 of the file
    that made its vectors, and refuses another.
    """
    card = MODELS.get(settings.model)
    if card is None:
        return _from_path(settings.model)
    path = minilm.ensure(models_dir) if card.file is None else models_dir / card.file
    if not path.is_file():
        raise SettingsError(f"The model {card.name} is not in {models_dir}. Get it with: vicw model pull {card.name}")
    return ModelFile(card, path, sha256(path))


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_path(name: str) -> ModelFile:
    path = Path(name).expanduser()
    if not path.is_file():
        raise SettingsError(f"{name} is neither a registered model nor a GGUF file. {KNOWN}, or name a file's path")
    return ModelFile(read_card(path), path, sha256(path))


def read_card(path: Path) -> EmbeddingModel:
    """Return the card of a GGUF from its metadata. Raises SettingsError if it is not an embedding model.

    Default pooling: the mean for an encoder, the last token for a causal model.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, OSError) as error:
        raise SettingsError(f"{path} is not a readable GGUF file") from error

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
        size=int(size),
        pooling=poolings.get(value(f"{architecture}.pooling_type", 0), default),
        max_tokens=min(int(value(f"{architecture}.context_length", MAX_WINDOW_TOKENS)), MAX_WINDOW_TOKENS),
        licence=str(value("general.license", "unknown")),
        smallest_size=1,  # the file does not name it; the user of an own file decides
    )
