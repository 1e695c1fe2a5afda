"""``vicw sleep …`` over a store of a test, with an embedder that needs no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.fakes.hash_embedder import HashEmbedder
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone


def sleep(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["sleep", *words, "--data-dir", str(store)])


def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands embed with a double, and leave the log as it is."""
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    init = Standalone.__init__
    monkeypatch.setattr(
        Standalone,
        "__init__",
        lambda self, settings, *given: init(self, settings, *(given or (HashEmbedder(),))),
    )
