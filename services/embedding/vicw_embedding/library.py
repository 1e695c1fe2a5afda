"""The model files: where each is, whether it is the one that was first used, and how to get it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicw_embedding import minilm
from vicw_shared.embedding_models import MODELS, EmbeddingModel, Pooling
from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from vicw_shared.settings.concerns import EmbeddingSettings

LOCK_FILE = "models.lock.json"
LONGEST_WINDOW = 512
KNOWN = f"Name one of {', '.join(MODELS)} (`vicw model list` describes them)"
"""What to do about an unknown name, wherever it was given: on the command line or in a variable."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model ready to load: its card, its file, and the SHA-256 of that file."""

    card: EmbeddingModel
    path: Path
    digest: str


def resolve(settings: EmbeddingSettings, models_dir: Path) -> ModelFile:
    """Return the model that the settings name: a registered one, or the path of any GGUF.

    The model that comes with the installation is unpacked into ``models_dir`` on the way. A registered
    model's SHA-256 is pinned in ``models.lock.json`` at first use. Raises SettingsError if the name is
    unknown, the file is missing (it names the command that gets it), is no embedding model, or is not the
    one that was pinned.
    """
    card = MODELS.get(settings.model)
    if card is None:
        return _from_path(settings.model)
    path = minilm.ensure(models_dir) if card.file is None else models_dir / card.file
    if not path.is_file():
        raise SettingsError(f"The model {card.name} is not in {models_dir}. Get it with: vicw model pull {card.name}")
    return ModelFile(card, path, pin(card.name, path))


def pin(name: str, path: Path) -> str:
    """Return the file's SHA-256, recording it beside the file if none is recorded of ``name`` and this file name.

    A release that takes another file for a model starts anew with it: the store knows which model made its
    vectors. Raises SettingsError if another digest was recorded.
    """
    digest = sha256(path)
    lock = path.parent / LOCK_FILE
    pinned = _read_lock(lock)
    known = pinned.get(name)
    if known is None or known["file"] != path.name:
        _write_lock(lock, {**pinned, name: {"file": path.name, "sha256": digest}})
    elif known["sha256"] != digest:
        raise SettingsError(
            f"{path} is not the file that {name} was first used with (SHA-256 {digest}, {known['sha256']} in "
            f"{lock.name}). If the change is meant, remove the entry from {lock}; vectors made before will "
            "not fit the new file."
        )
    return digest


def pinned_digest(name: str, models_dir: Path, file: str) -> str | None:
    """Return the SHA-256 recorded for ``file`` of the model ``name`` at first use, or None."""
    known = _read_lock(models_dir / LOCK_FILE).get(name, {})
    return known.get("sha256") if known.get("file") == file else None


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_lock(lock: Path) -> dict[str, dict[str, str]]:
    try:
        content: dict[str, dict[str, str]] = json.loads(lock.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise SettingsError(f"{lock} is not readable JSON; restore or remove it") from error
    return content


def _write_lock(lock: Path, content: dict[str, dict[str, str]]) -> None:
    handle, temporary = tempfile.mkstemp(dir=lock.parent, prefix=f".{lock.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(lock)


def _from_path(name: str) -> ModelFile:
    path = Path(name).expanduser()
    if not path.is_file():
        raise SettingsError(f"{name} is neither a registered model nor a GGUF file. {KNOWN}, or name a file's path")
    return ModelFile(read_card(path), path, sha256(path))


def read_card(path: Path) -> EmbeddingModel:
    """Return what a GGUF says of itself. Raises SettingsError if it is not an embedding model.

    Where it does not name its pooling, an encoder is averaged and a causal model read at its last token.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, OSError) as error:
        raise SettingsError(f"{path} is not a readable GGUF file") from error

    def value(key: str, default: Any = None) -> Any:
        found = reader.get_field(key)
        return default if found is None else found.contents()

    architecture = value("general.architecture")
    size = value(f"{architecture}.embedding_length_out") or value(f"{architecture}.embedding_length")
    if not size:
        raise SettingsError(f"{path} does not say how long its vectors are: it is no embedding model")
    causal = value(f"{architecture}.attention.causal", True)
    poolings = {1: Pooling.MEAN, 2: Pooling.CLS, 3: Pooling.LAST}
    default = Pooling.LAST if causal else Pooling.MEAN
    return EmbeddingModel(
        name=path.stem,
        size=int(size),
        pooling=poolings.get(value(f"{architecture}.pooling_type", 0), default),
        max_tokens=min(int(value(f"{architecture}.context_length", LONGEST_WINDOW)), LONGEST_WINDOW),
        licence=str(value("general.license", "unknown")),
        smallest_size=1,  # the file does not say; who names a file of their own knows what they cut
    )
