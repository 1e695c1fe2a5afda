from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from vicw_client._protocol import DEFAULT_URL
from vicw_shared.settings import RetrievalSettings
from vicw_shared.settings.document import CONCERNS, render

ROOT = Path(__file__).parents[3]


def test_every_setting_is_in_the_documented_example() -> None:
    assert (ROOT / ".env.example").read_text() == render(), "run `python -m vicw_shared.settings > .env.example`"


def test_every_variable_that_the_code_speaks_of_is_in_the_documented_example() -> None:
    documented = set(re.findall(r"^#(VICW_[A-Z_]+)=", render(), re.MULTILINE))
    sources = [path for folder in ("shared", "client", "services") for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in sources for name in re.findall(r"\bVICW_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))}
    assert "VICW_URL" in named
    assert named <= documented
    assert f"#VICW_URL={DEFAULT_URL}\n" in render()


def test_no_two_settings_share_a_variable() -> None:
    names = [f"{c.model_config.get('env_prefix')}{name}".upper() for c in CONCERNS for name in c.model_fields]
    assert len(names) == len(set(names))


def test_settings_come_from_the_environment_and_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "0.25")
    assert RetrievalSettings().alpha == 0.25
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "7")
    with pytest.raises(ValidationError, match="alpha"):
        RetrievalSettings()
