"""The process that parses documents: limits, deaths, and files after those that ended it."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

import pytest

from support.documents.office import docx, paragraph
from vicw_readers.documents import child, document_reader
from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import DocumentSection, Part
from vicw_readers.documents.process import end_waiting, parse
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, UnreadableFileError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")

PARSER = """
import os, time
from vicw_readers.documents.model import DocumentSection
def parse(path, limits):
    print("noise that no answer may hold")
    yield DocumentSection("first")
    exec(path.read_text())
    yield DocumentSection("last")
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Return a function that has the child run code between two sections, and returns the texts that came."""
    (tmp_path / "parser_of_tests.py").write_text(PARSER)
    start = f"import sys; sys.path.append({str(tmp_path)!r}); from vicw_readers.documents import child; "
    start += "child.PARSERS['test'] = 'parser_of_tests'; child.main()"
    monkeypatch.setattr("vicw_readers.documents.process.COMMAND", (sys.executable, "-c", start))

    def run(code: str, limits: Limits = Limits(), into: list[str] | None = None) -> list[str]:  # noqa: B008
        (tmp_path / "code").write_text(code)
        texts = into if into is not None else []
        for part in parse("test", tmp_path / "code", limits):
            texts.append(text_of(part))
        return texts

    end_waiting()
    yield run
    end_waiting()


def text_of(part: Part) -> str:
    assert isinstance(part, DocumentSection)
    return part.text


def test_parts_come_as_they_are_found(run) -> None:  # type: ignore[no-untyped-def]
    assert run("pass") == ["first", "last"]


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("time.sleep(60)", Limits(seconds=4), "more than 4 seconds"),
        ("while True: pass", Limits(seconds=4), "more than 4 seconds"),
        ("os.abort()", Limits(), "ended the process"),
        ("os._exit(3)", Limits(), "ended the process that read it (3)"),
        ("raise ValueError('odd')", Limits(), "broken or cut off: ValueError: odd"),
        pytest.param("x = bytearray(2**31)", Limits(memory_mb=512), "more than 512 MB of memory", marks=LINUX),
    ],
)
def test_a_limit_or_a_death_refuses_the_file_alone(run, code: str, limits: Limits, reason: str) -> None:  # type: ignore[no-untyped-def]
    came: list[str] = []
    with pytest.raises(UnreadableFileError) as caught:
        run(code, limits, came)
    assert reason in caught.value.reason
    assert caught.value.fix
    assert came == ["first"]
    assert run("pass") == ["first", "last"]


def test_more_text_than_the_limit_is_refused(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "parser_of_tests.py").write_text(
        "from vicw_readers.documents.model import DocumentSection\n"
        "def parse(path, limits):\n"
        "    while True: yield DocumentSection('x' * 100_000)\n"
    )
    came: list[str] = []
    with pytest.raises(UnreadableFileError, match="more than 1 MB of text"):
        run("", Limits(text_mb=1), came)
    assert len(came) == 10


def test_a_reader_that_stops_early_leaves_no_process_in_the_middle_of_a_file(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "code").write_text("time.sleep(60)")
    parts = parse("test", tmp_path / "code", Limits())
    assert text_of(next(iter(parts))) == "first"
    parts.close()  # type: ignore[attr-defined]
    assert run("pass") == ["first", "last"]


def test_code_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("import pathlib\npathlib.Path('was-run').touch()\n")
    (tmp_path / "broken.epub").write_bytes(b"PK")
    monkeypatch.chdir(tmp_path)
    end_waiting()  # a process that waits was started elsewhere
    with pytest.raises(UnreadableFileError):
        list(parse("epub", tmp_path / "broken.epub"))
    assert not (tmp_path / "was-run").exists()


def test_every_parser_of_the_table_is_a_module() -> None:
    for module in child.PARSERS.values():
        assert util.find_spec(module), module


def test_without_the_extra_a_document_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_reader, "find_spec", lambda _: None)
    (tmp_path / "minutes.docx").write_bytes(docx(paragraph("Approved.")))
    (tmp_path / "a.txt").write_text("Approved too.")
    refused, *others = sorted(read_paths([tmp_path]), key=lambda record: not isinstance(record, Refused))
    assert isinstance(refused, Refused)
    assert refused.path.endswith("minutes.docx")
    assert refused.fix == (
        "pip install 'vicw[documents]'; in this checkout scripts/setup --no-dev --inexact --extra documents"
    )
    assert len(others) == 1
    monkeypatch.setattr(document_reader, "CHECKOUT", tmp_path)
    refused = next(record for record in read_paths([tmp_path]) if isinstance(record, Refused))
    assert refused.fix == "pip install 'vicw[documents]'", "installed as a package"
