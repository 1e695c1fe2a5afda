"""The process that reads an upload: how it ends, and what is said of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from vicw_ingest.file_import import reading
from vicw_ingest.file_import.reading import ReadingEndedError, ReadingProcess
from vicw_readers.intake.limits import OUT_OF_MEMORY
from vicw_readers.intake.messages import as_line
from vicw_readers.records import Skipped

ONE = as_line(Skipped("/uploads/notes/a.png", "is a picture"))
END = {
    OUT_OF_MEMORY: "VICW_IMPORT_MEMORY_MB",
    -9: "no memory left",
    1: "log",
}


def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str) -> ReadingProcess:
    """Return one that names the formats and a record, and then does what is said."""
    answers = json.dumps({"md": "Markdown"}).encode() + b"\n" + ONE
    script = f"import os, sys, time; sys.stdin.readline(); os.write(1, {answers!r}); {then}"
    monkeypatch.setattr(reading, "COMMAND", (sys.executable, "-S", "-c", script))
    return ReadingProcess([Path("/uploads/notes")], {}, scratch=tmp_path, memory_mb=256)


@pytest.mark.parametrize("code", END)
def test_a_process_that_ends_early_is_told_with_its_reason_and_the_last_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    end = "os.kill(os.getpid(), 9)" if code == -9 else f"os._exit({code})"
    records = process(tmp_path, monkeypatch, end).records()
    assert next(records) == Skipped("/uploads/notes/a.png", "is a picture")
    with pytest.raises(ReadingEndedError, match=END[code]) as ended:
        next(records)
    assert "a.png" in str(ended.value)
    assert "/uploads" not in str(ended.value)


def test_a_process_is_gone_when_its_reading_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = process(tmp_path, monkeypatch, "time.sleep(60)")
    records = read.records()
    next(records)  # and it is not read to the end, as where storing fails
    read.close()
    assert read._child.returncode is not None
    assert list(records) == []


def test_a_server_that_takes_uploads_loads_no_reader() -> None:
    program = "import sys, vicw_ingest.file_import.api; print('vicw_readers.registry' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )
