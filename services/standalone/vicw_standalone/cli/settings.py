"""Settings from the environment, overridden by options of the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vicw_shared.settings import EmbeddingSettings, StorageSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_standalone.settings import CHOICES, StandaloneSettings


def read_settings(
    *, host: str | None = None, port: int | None = None, data_dir: Path | None = None, model: str | None = None
) -> StandaloneSettings:
    """Return the settings. Raises SettingsError that names the variable, its value and the fault."""
    with named_by_variable():
        settings = StandaloneSettings.read()
        storage = StorageSettings() if data_dir is None else StorageSettings(data_dir=data_dir.expanduser().absolute())
    choices = storage.data_dir / CHOICES
    with named_by_variable(str(choices)):
        settings = replace(settings, storage=storage, embedding=EmbeddingSettings(_env_file=choices))
    server = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    if server:
        settings = replace(settings, server=settings.server.model_copy(update=server))
    if model is not None:
        settings = replace(settings, embedding=settings.embedding.model_copy(update={"model": model}))
    return settings
