"""Secrets: from the environment, or from files, in which container platforms provide them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import SecretStr, model_validator
from pydantic_settings import BaseSettings

from vicw_shared.errors import SettingsError

_SUFFIX = "_FILE"


def secret_variables(concern: type[BaseSettings]) -> list[tuple[str, str]]:
    """Return, for each secret of a concern, its field name and the variable that names a file with it."""
    prefix = concern.model_config.get("env_prefix", "")
    return [
        (name, f"{prefix}{name.upper()}{_SUFFIX}")
        for name, field in concern.model_fields.items()
        if "SecretStr" in str(field.annotation)
    ]


class WithSecrets(BaseSettings):
    """Settings with secrets. Instead of a secret's variable, the variable with suffix ``_FILE`` may name a file."""

    @model_validator(mode="before")
    @classmethod
    def _read_files(cls, values: dict[str, Any]) -> dict[str, Any]:
        for name, variable in secret_variables(cls):
            path = os.environ.get(variable)
            if not path:
                continue
            if values.get(name) is not None:
                raise SettingsError(f"Set {variable.removesuffix(_SUFFIX)} or {variable}, not both")
            values = values | {name: SecretStr(_read(path, variable))}
        return values


def _read(path: str, variable: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable} {path} cannot be read: {error}") from error
