"""The embedding model chosen for a data directory, in its own settings file."""

from __future__ import annotations

import shlex
from pathlib import Path

from dotenv import set_key

from vicw_embedding.models import model_files
from vicw_shared.embedding_models import MODELS
from vicw_shared.ports import ModelIdentity
from vicw_standalone.settings import CHOICES

REINDEX_ADVICE = "Run `vicw reindex` to embed everything again"
_VARIABLE = "VICW_EMBEDDING_MODEL"


def choose(data_dir: Path, source: str | None) -> None:
    """Record the model of a data directory: a registered name, or a path; None: change nothing."""
    if source is None:
        return
    chosen = source if source in MODELS else str(Path(source).expanduser().absolute())
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    set_key(data_dir / CHOICES, _VARIABLE, chosen, quote_mode="auto")


def vectors_of(known: ModelIdentity | None) -> str:
    """Return what a store filled with the model ``known`` holds, for a message."""
    return f"vectors of {known}" if known is not None and known.has_vectors else "no vectors"


def remedy(known: ModelIdentity, wanted: ModelIdentity, models_dir: Path) -> str:
    """Return the advice for a store of the model ``known`` when the settings name ``wanted``: every way out."""
    if not known.has_vectors:
        return "Run `vicw reindex` to compute vectors, or set VICW_EMBEDDER=none to continue without"
    if known.name != wanted.name and known.name in MODELS:
        return f"{REINDEX_ADVICE}, or set VICW_EMBEDDING_MODEL={known.name}"
    if (file := model_files.find_by_identity(known, models_dir)) is None:
        return REINDEX_ADVICE
    install = (
        "" if model_files.engine_problem(model_files.read_card(file)) is None else "pip install 'vicw[gguf]', then "
    )
    return f"{REINDEX_ADVICE}, or keep its vectors and their model: {install}`vicw model use {shlex.quote(str(file))}`"
