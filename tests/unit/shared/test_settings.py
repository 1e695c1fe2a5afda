from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from vicw_client._connection import DEFAULT_URL
from vicw_shared import settings
from vicw_shared.errors import SettingsError
from vicw_shared.settings import EmbeddingSettings, ReindexSettings, RetrievalSettings, ServerSettings, StorageSettings
from vicw_shared.settings.document import CONCERNS, render
from vicw_shared.settings.former_names import REMOVED, RENAMED
from vicw_shared.settings.variables import VARIABLES, named_by_variable

ROOT = Path(__file__).parents[3]


def test_every_setting_is_in_the_documented_example() -> None:
    assert (ROOT / ".env.example").read_text() == render(), "run `python -m vicw_shared.settings > .env.example`"


def test_every_variable_named_in_the_code_is_in_the_documented_example() -> None:
    documented = set(re.findall(r"^#(VICW_[A-Z_]+)=", render(), re.MULTILINE))
    sources = [path for folder in ("shared", "client", "services") for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in sources for name in re.findall(r"\bVICW_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))}
    assert "VICW_URL" in named
    assert named - RENAMED.keys() - REMOVED <= documented
    assert f"#VICW_URL={DEFAULT_URL}\n" in render()


def test_no_two_settings_share_a_variable() -> None:
    names = [f"{c.model_config.get('env_prefix')}{name}".upper() for c in CONCERNS for name in c.model_fields]
    assert len(names) == len(set(names))


def test_durations_in_settings_have_an_upper_bound_within_the_calendar() -> None:
    spans = [
        (f"{concern.model_config.get('env_prefix')}{name}".upper(), unit, field)
        for concern in CONCERNS
        for name, field in concern.model_fields.items()
        for unit in ("minutes", "hours", "days")
        if name == unit or name.endswith(f"_{unit}")
    ]
    assert len(spans) > 10
    for variable, unit, field in spans:
        most = [limit for limit in (getattr(one, "le", None) for one in field.metadata) if limit is not None]
        assert most, f"{variable} has no upper bound"
        assert datetime(2026, 1, 1) - timedelta(**{unit: most[0]}) > datetime.min, variable


def test_settings_come_from_the_environment_and_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "0.25")
    assert RetrievalSettings().alpha == 0.25
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "7")
    with pytest.raises(ValidationError, match="alpha"):
        RetrievalSettings()


@pytest.mark.parametrize(
    ("concern", "variable", "value", "says"),
    [
        (
            ServerSettings,
            "VICW_PORT",
            "http",
            "should be a valid integer. Correct it, or unset it for the default, 8080",
        ),
        (ServerSettings, "VICW_TENANT", "a\x1bb", "contains a control character (U+001B). Correct it"),
        (ServerSettings, "VICW_PORT", "99999", "should be less than or equal to 65535. Correct it"),
        (RetrievalSettings, "VICW_RETRIEVAL_FUSION", "max", "should be 'zscore' or 'rrf'. Correct it"),
        (ReindexSettings, "VICW_REINDEX_POLL_SECONDS", "2.1", "should be less than or equal to 2. Correct it"),
        (EmbeddingSettings, "VICW_EMBEDDING_DIMENSIONS", "big", "should be a valid integer. Correct it, or unset it"),
    ],
)
def test_an_invalid_setting_names_its_variable_value_and_fix(
    monkeypatch: pytest.MonkeyPatch, concern: type[BaseSettings], variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as raised, named_by_variable():
        concern()
    assert raised.value.detail.startswith(f"{variable} is {value!r} in the environment, but {says}")


def test_all_invalid_settings_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_PORT", "a")
    monkeypatch.setenv("VICW_SHUTDOWN_SECONDS", "b")
    with pytest.raises(SettingsError, match=r"VICW_PORT is 'a' .*; VICW_SHUTDOWN_SECONDS is 'b'"), named_by_variable():
        ServerSettings()


@pytest.mark.parametrize(
    ("concern", "field", "variable"),
    [
        (settings.Neo4jSettings, "password", "VICW_NEO4J_PASSWORD"),
        (settings.QdrantSettings, "api_key", "VICW_QDRANT_API_KEY"),
        (settings.RedisSettings, "password", "VICW_REDIS_PASSWORD"),
        (settings.EmbeddingSettings, "api_key", "VICW_EMBEDDING_API_KEY"),
    ],
)
def test_a_secret_may_come_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concern: type[BaseSettings], field: str, variable: str
) -> None:
    file = tmp_path / "secret"
    file.write_text("from a file\n")
    assert getattr(concern(), field) is None
    monkeypatch.setenv(f"{variable}_FILE", str(file))
    assert getattr(concern(), field).get_secret_value() == "from a file"
    assert "from a file" not in repr(concern())
    assert f"{variable}_FILE" in VARIABLES
    monkeypatch.setenv(variable, "x")
    with pytest.raises(SettingsError, match=f"{variable} or {variable}_FILE, not both"):
        concern()
    monkeypatch.delenv(variable)
    monkeypatch.setenv(f"{variable}_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match=f"{variable}_FILE .*none cannot be read"):
        concern()


def test_the_default_data_directory_is_the_systems_and_a_former_one_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("VICW_DATA_DIR", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    former = tmp_path / ".local" / "share" / "vicw"
    assert StorageSettings().data_dir == former, "on Linux it is the same"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert StorageSettings().data_dir == tmp_path / "data" / "vicw"
    former.mkdir(parents=True)
    assert StorageSettings().data_dir == former
