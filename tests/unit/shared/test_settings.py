from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from vicw_shared.settings import RetrievalSettings
from vicw_shared.settings.document import CONCERNS, render

ROOT = Path(__file__).parents[3]


def test_every_setting_is_in_the_documented_example() -> None:
    assert (ROOT / ".env.example").read_text() == render(), "run `python -m vicw_shared.settings > .env.example`"


def test_no_two_settings_share_a_variable() -> None:
    names = [f"{c.model_config.get('env_prefix')}{name}".upper() for c in CONCERNS for name in c.model_fields]
    assert len(names) == len(set(names))


def test_settings_come_from_the_environment_and_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "0.25")
    assert RetrievalSettings().alpha == 0.25
    monkeypatch.setenv("VICW_RETRIEVAL_ALPHA", "7")
    with pytest.raises(ValidationError, match="alpha"):
        RetrievalSettings()
