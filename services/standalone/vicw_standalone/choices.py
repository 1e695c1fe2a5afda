"""What a data directory's own settings say: the model that was chosen for it."""

from __future__ import annotations

from pathlib import Path

from dotenv import set_key

from vicw_shared.embedding_models import MODELS
from vicw_shared.ports import ModelChange
from vicw_standalone.settings import CHOICES, Settings

_VARIABLE = "VICW_EMBEDDING_MODEL"


def choose(data_dir: Path, source: str) -> None:
    """Write down the model of a data directory: a registered one's name, or the path of a GGUF file."""
    chosen = source if source in MODELS else str(Path(source).expanduser().absolute())
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    set_key(data_dir / CHOICES, _VARIABLE, chosen, quote_mode="auto")


def keep_choice(settings: Settings, change: ModelChange) -> None:
    """Let the next start take the model that a change has brought into use."""
    if change.source is not None:
        choose(settings.storage.data_dir, change.source)
