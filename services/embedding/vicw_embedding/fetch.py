"""``python -m vicw_embedding.fetch``: provide the chosen model, then end. Run once before the servers start.

Sources in order: the models directory itself, the given directories (for machines without a network), the model hub.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from vicw_embedding.models import hub, model_files
from vicw_embedding.wiring import models_dir
from vicw_runtime.exit_codes import exit_code
from vicw_shared.embedding_models import MODELS
from vicw_shared.errors import VicwError
from vicw_shared.settings.concerns import EmbeddingSettings, StorageSettings
from vicw_shared.settings.variables import named_by_variable


def fetch(settings: EmbeddingSettings, directory: Path, sources: Sequence[Path]) -> model_files.ModelFile:
    """Bring the chosen model into ``directory``, unless the settings name a file by its path, and return it.

    Raises what ``hub.pull`` and ``model_files.resolve`` raise.
    """
    card = MODELS.get(settings.model)
    if card is None:
        return model_files.resolve(settings, directory)
    for _, target in hub.files_of(card, directory):
        offered = [source / target.relative_to(directory) for source in sources]
        copy = next((path for path in offered if path.is_file()), None)
        if copy is not None and not target.is_file():
            _copy(copy, target)
    return hub.pull(card.name, directory, repository=settings.repository, progress=_log_every_tenth(print))


def _copy(source: Path, target: Path) -> None:
    print(f"copying {source.name} from {source.parent}", flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with os.fdopen(handle, "wb") as copy, source.open("rb") as original:
        shutil.copyfileobj(original, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())
    Path(temporary).chmod(0o644)
    Path(temporary).replace(target)  # atomically


def _log_every_tenth(log: Callable[[str], object]) -> hub.Progress:
    """Return a progress that prints a line for every tenth of the total: a log has no bar."""
    last_tenth = -1

    def report(done: int, total: int | None) -> None:
        nonlocal last_tenth
        tenth = done * 10 // total if total else done // (100 << 20)
        if tenth != last_tenth:
            last_tenth = tenth
            log(f"{done >> 20} of {total >> 20 if total else '?'} MiB")

    return report


def main(arguments: Sequence[str]) -> int:
    """Fetch the model; ``arguments`` are source directories. Returns the exit code."""
    try:
        with named_by_variable():
            settings, storage = EmbeddingSettings(), StorageSettings()
        model = fetch(settings, models_dir(settings, storage), [Path(each) for each in arguments])
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exit_code(error)
    print(f"{model.card.name} is in {model.path} (SHA-256 {model.digest})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
