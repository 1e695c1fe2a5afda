"""Texts in other encodings than UTF-8: known by their bytes, by what the user says, or refused with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.files.records_of_file import items_in, records_in, refusals_in, written
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.intake.text_decoder import unmarked_utf16
from vicw_readers.records import Noted, Skipped, SourceItem

_CODE = "namespace Demo { public class Ledger { public int Überschuss() { return 42; } } }\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["Ledger.cs", "ledger.txt", "ledger.md", "ledger.csv"])
def test_utf_16_without_a_mark_is_known_by_its_bytes(tmp_path: Path, encoding: str, name: str) -> None:
    written(tmp_path / "in" / name, (_CODE * 300).encode(encoding))
    assert "Überschuss" in "".join(item.item.text for item in items_in(tmp_path / "in"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_of_other_scripts_is_read_once_it_is_named(tmp_path: Path, encoding: str) -> None:
    text = "港口在春天开放，船只从北方来。" * 40 + "\n"
    path = written(tmp_path / "in" / "a.txt", text.encode(encoding))
    assert isinstance(records_in(tmp_path / "in")[0], Skipped)
    (item,) = items_in(path, ImportOptions(encoding=encoding))
    assert item.item.text == text


@pytest.mark.parametrize(
    "data",
    [b"\x00\x01\x02", bytes(64), b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"a\x00b\x00\x01\x00c\x00", b"\x00a\x00b"],
)
def test_binary_bytes_are_no_utf_16(tmp_path: Path, data: bytes) -> None:
    assert unmarked_utf16(data) is None
    written(tmp_path / "in" / "a.txt", data)
    (skipped,) = records_in(tmp_path / "in")
    assert isinstance(skipped, Skipped)


def test_latin_text_with_a_name_of_its_encoding_is_not_taken_for_utf_16(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "Café\n".encode("latin-1"))
    (item,) = items_in(path, ImportOptions(encoding="latin-1"))
    assert item.item.text == "Café\n"


def test_a_picture_is_none_of_the_texts_whose_encoding_is_named(tmp_path: Path) -> None:
    written(tmp_path / "in" / "a.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    (skipped,) = records_in(tmp_path / "in", ImportOptions(encoding="utf-16-le"))
    assert isinstance(skipped, Skipped)


_TEXTS = [
    ("cp1252", "windows-1252", "L'été, où était le garçon ? Très près du château, à la côte."),
    ("cp1252", "windows-1252", "Die Fähre fährt täglich über den Fluss, 80 m² groß – „so schön“."),
    ("cp1252", "windows-1252", "El niño comió una piña. ¿Dónde está la señora?"),
    ("cp1252", "windows-1252", "They don’t serve lunch — it’s what the café has always been."),
    ("cp1250", "windows-1250", "Łódka płynie przez jezioro, dzieci śpią, a żona gotuje obiad."),
    ("cp1250", "windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
    ("cp1251", "windows-1251", "Паром отправляется каждое утро. Дети ждут на берегу."),
    ("koi8_r", "koi8-r", "Паром отправляется каждое утро. Дети ждут на берегу."),
    ("cp1253", "windows-1253", "Το πλοίο φεύγει κάθε πρωί στις οκτώ. Τα παιδιά περιμένουν."),
    (
        "cp1254",
        "windows-1254",
        "Vapur her sabah iskeleden kalkıyor, çocuklar kıyıda ağaç altında bekliyor, öğle yemeği pişiyor.",
    ),
]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.yaml"])
@pytest.mark.parametrize(("codec", "usual", "text"), _TEXTS)
def test_a_text_that_can_mean_one_thing_only_is_read_and_noted(
    tmp_path: Path, codec: str, usual: str, text: str, name: str
) -> None:
    written(tmp_path / "in" / name, f"{text}\nlast, line\n".encode(codec))
    item, note = records_in(tmp_path / "in")
    assert isinstance(item, SourceItem)
    assert " ".join(text.replace(",", " ").split()) in " ".join(
        item.item.text.replace(",", " ").replace(" | ", " ").split()
    )
    assert isinstance(note, Noted)
    assert note.reason.startswith(f"is read as {usual}, which it does not say")


@pytest.mark.parametrize(
    "data",
    [
        "niño".encode("cp1252"),  # or "nińo"
        "řeka".encode("cp1250"),  # or "øeka"
        "да, yes".encode("cp1251"),
        "フェリーは毎朝八時に港を出ます。".encode("shift_jis"),
        "渡轮每天早上八点离开港口。".encode("gb18030"),
        "배는 매일 아침 여덟 시에 항구를 떠납니다.".encode("cp949"),
        "Die Fähre fährt über den Fluss.".encode("cp850"),
        "L'été, où était le garçon ?".encode("mac_roman"),
        b"caf\xe9 \xff\xfe\xfd",
    ],
)
def test_a_text_that_may_mean_several_things_is_refused_with_the_way_out(tmp_path: Path, data: bytes) -> None:
    for name in ("a.txt", "a.csv"):
        (refused,) = refusals_in(written(tmp_path / name, data))
        assert "--encoding" in refused.fix


def test_the_encoding_that_the_user_names_is_taken_without_a_note(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "niño café".encode("cp1250", "replace") + "é".encode("cp1252"))
    (item,) = records_in(path, ImportOptions(encoding="cp1252"))
    assert isinstance(item, SourceItem)


def test_words_beyond_the_first_part_decide_too(tmp_path: Path) -> None:
    text = "plain words\n" * 200_000 + "Où est le garçon ?\n"
    *items, note = records_in(written(tmp_path / "a.csv", text.encode("cp1252")))
    assert isinstance(note, Noted)
    assert isinstance(items[-1], SourceItem)
    assert "Où est le garçon ?" in items[-1].item.text
