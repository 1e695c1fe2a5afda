"""What the readers hold in memory is what the settings say, and a refusal names the setting."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from vicw_readers.intake.limits import ReadLimits, limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, UnreadableFileError
from vicw_shared.errors import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    limits.cache_clear()
    yield
    limits.cache_clear()


def test_the_defaults_are_those_of_the_settings() -> None:
    assert limits() == ReadLimits()


def test_a_limit_is_a_setting_that_the_refusal_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_READERS_TEXT_MB", "1")
    monkeypatch.setenv("VICW_READERS_LINE_MB", "1")
    (tmp_path / "a.txt").write_text("word " * 300_000)
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": "x" * 2**20}) + "\n" + json.dumps({"text": "short"}) + "\n")
    refused = {Path(one.path).name: one for one in read_paths([tmp_path]) if isinstance(one, Refused)}
    assert "VICW_READERS_TEXT_MB" in refused["a.txt"].fix
    assert "VICW_READERS_LINE_MB" in refused["b.jsonl"].fix
    monkeypatch.setenv("VICW_READERS_TEXT_MB", "2")
    limits.cache_clear()
    assert not [one for one in read_paths([tmp_path / "a.txt"]) if isinstance(one, Refused)]


def test_a_packed_document_expands_on_the_disk_as_far_as_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_READERS_COPY_MB", "1")
    (tmp_path / "a.pdf.gz").write_bytes(gzip.compress(b"%PDF-1.4\n" + bytes(2 * 2**20)))
    source = SourceFile(tmp_path / "a.pdf.gz", "a.pdf.gz", "a")
    with pytest.raises(UnreadableFileError, match="over 1048576 bytes") as refused, source.on_disk():
        pass
    assert "VICW_READERS_COPY_MB" in refused.value.fix


def test_a_wrong_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_READERS_MAIL_MB", "0")
    with pytest.raises(SettingsError, match="VICW_READERS_MAIL_MB"):
        limits()
