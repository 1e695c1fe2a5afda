"""The registry of readers: what each says of itself, the order, and readers that other packages bring along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from vicw_readers import registry
from vicw_readers.formats import table
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import ImportOptions, SourceFile
from vicw_readers.paths import read_paths
from vicw_readers.port import Reader
from vicw_readers.records import Record, Refused, SourceItem, bounded_id
from vicw_shared.errors import SettingsError
from vicw_shared.model import Sensitivity

PAGE = Path(__file__).parents[3] / "docs" / "importing.md"
_LINE = re.compile(r"BELL (?P<time>\S+) (?P<who>\w+): (?P<text>.*)")


class BellLogReader:
    """Lines of a bell log: the smallest whole reader."""

    name = "bell-log"
    title = "bell log"
    files = ("bells.txt",)
    keeps = "ringer, time and text; a log is a flow"
    leaves = "blank lines"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        return bool(start.lines and _LINE.match(start.lines[0]))

    def read(self, source: SourceFile) -> Iterator[Record]:
        for step, line in enumerate(source.lines()):
            if match := _LINE.match(line):
                when = datetime.fromisoformat(match["time"]).replace(tzinfo=source.options.timezone)
                yield source.item(
                    {
                        "id": bounded_id(f"bells#{when.isoformat()}"),
                        "text": match["text"],
                        "speaker": match["who"],
                        "timestamp": when,
                        "flow_id": "bells",
                        "flow_step": step,
                        "source": self.name,
                    },
                    line=step + 1,
                    usual_context="Bells",
                )
            elif line.strip():
                yield source.refuse("is no line of a bell log", step + 1)


def no_reader() -> Reader:
    raise RuntimeError("needs a bell")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    entries: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda *, group: entries if group == registry.GROUP else [])
    registry.readers.cache_clear()
    yield entries
    registry.readers.cache_clear()


def entry(attribute: str) -> EntryPoint:
    return EntryPoint("bells", f"{__name__}:{attribute}", registry.GROUP)


def test_names_are_unique_and_each_reader_says_what_it_does() -> None:
    names = [reader.name for reader in registry.READERS]
    assert len(names) == len(set(names))
    for reader in registry.READERS:
        assert re.fullmatch(r"[a-z0-9-]+", reader.name)
        assert reader.title
        assert reader.files
        for line in (reader.keeps, reader.leaves):
            assert line
            assert not line.endswith(".")
            assert "\n" not in line
            assert "|" not in line


def test_the_page_has_the_table_of_formats() -> None:
    assert table() in PAGE.read_text("utf-8"), "put in what `python -m vicw_readers.formats` prints"


def test_a_package_brings_a_reader_that_is_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: list[EntryPoint]
) -> None:
    file = tmp_path / "bells.txt"
    file.write_text("BELL 2025-03-01T10:00 Ana: Grandsire Triples\n\nnoise\n")
    (text,) = read_paths([file])
    assert isinstance(text, SourceItem)
    assert text.reader == "text"
    registry.readers.cache_clear()
    monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.attr])
    installed.append(entry("BellLogReader"))
    turn, noise = read_paths([file], ImportOptions(owner="Ana"))
    assert isinstance(turn, SourceItem)
    assert (turn.reader, turn.context, turn.item.speaker) == ("bell-log", "Bells", "Ana")
    assert (turn.item.sensitivity, turn.item.about) == (Sensitivity.PERSONAL, ("Ana",))
    assert isinstance(noise, Refused)
    assert (noise.kind, noise.line, noise.reason) == ("bell log", 3, "is no line of a bell log")


def test_the_user_decides_who_sees_what_is_personal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: list[EntryPoint]
) -> None:
    monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.attr])
    installed.append(entry("BellLogReader"))
    file = tmp_path / "bells.txt"
    file.write_text("BELL 2025-03-01T10:00 Ana: Grandsire Triples\n")
    (open_to_all,) = read_paths([file], ImportOptions(owner="Ana", sensitivity=Sensitivity.PUBLIC))
    assert isinstance(open_to_all, SourceItem)
    assert (open_to_all.item.sensitivity, open_to_all.item.about) == (Sensitivity.PUBLIC, ())
    plain = tmp_path / "diary.txt"
    plain.write_text("It rained.\n")
    (secret,) = read_paths([plain], ImportOptions(owner="Ana", sensitivity=Sensitivity.SENSITIVE))
    assert isinstance(secret, SourceItem)
    assert (secret.item.sensitivity, secret.item.about) == (Sensitivity.SENSITIVE, ("Ana",))


def test_a_reader_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch, installed: list[EntryPoint]) -> None:
    monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.attr])
    installed.append(entry("no_reader"))
    with pytest.raises(SettingsError, match=r"reader 'bells' .* cannot be loaded: needs a bell"):
        registry.readers()


def test_the_user_may_name_the_format(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("# One\n\n# Two\n")
    assert len(list(read_paths([file]))) == 1
    assert len(list(read_paths([file], ImportOptions(format="markdown")))) == 2
