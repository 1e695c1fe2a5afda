"""Reader of PDF: headings, pages, properties, and files that are broken, locked or pictures."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.documents.pdf import PICTURE, Text, pdf
from vicw_readers.documents.pdf_layout import Line, paragraphs
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem

pytest.importorskip("pypdfium2", reason="vicw[documents] is not installed")

BODY = "The lock gates were painted in the spring, and the sluices were greased before the first boats came."


def read(folder: Path, data: bytes, name: str = "canal.pdf") -> list[Record]:
    (folder / name).write_bytes(data)
    return list(read_paths([folder / name], ImportOptions()))


def items(records: list[Record]) -> list[SourceItem]:
    assert all(isinstance(record, SourceItem) for record in records), records
    return [record for record in records if isinstance(record, SourceItem)]


def test_larger_lines_are_headings_and_name_their_sections(tmp_path: Path) -> None:
    page = [Text("Canal report", 22), Text(BODY), Text("Project Heron", 15), *[Text(BODY)] * 3]
    last = [Text("Project Swift", 15), *[Text("Swift waits for timber.")] * 2]
    sections = items(read(tmp_path, pdf([page, last], packed=True)))
    assert [(one.item.name, one.item.id) for one in sections] == [
        ("Canal report", "canal.pdf#canal-report"),
        ("Canal report > Project Heron", "canal.pdf#project-heron"),
        ("Canal report > Project Swift", "canal.pdf#project-swift"),
    ]
    assert [one.item.metadata["page"] for one in sections] == [1, 1, 2]
    assert sections[1].item.text == f"Project Heron\n\n{BODY} {BODY} {BODY}"
    assert "Heron" not in sections[2].item.text


def test_a_section_over_several_pages_says_where_it_ends(tmp_path: Path) -> None:
    page = [Text("Locks", 20), *[Text(BODY)] * 4]
    [section] = items(read(tmp_path, pdf([page, [Text(BODY)] * 4])))
    assert section.item.metadata == {"page": 1, "page_to": 2}


def test_without_headings_a_page_is_an_item(tmp_path: Path) -> None:
    first, second = items(read(tmp_path, pdf([[Text("Oil the pump.")] * 2, [Text("Grease the winch.")] * 2])))
    assert (first.item.id, first.item.name, first.item.metadata) == ("canal.pdf#page=1", "canal > Page 1", {"page": 1})
    assert (second.item.id, second.item.text) == ("canal.pdf#page=2", "Grease the winch. Grease the winch.")


def test_bookmarks_tell_headings_that_look_like_text(tmp_path: Path) -> None:
    pages: list[list[Text] | str] = [[Text("Sluices"), Text(BODY)], [Text("Weirs"), Text(BODY)]]
    sections = items(read(tmp_path, pdf(pages, outline=[("Sluices", 0), ("Weirs", 1)])))
    assert [one.item.name for one in sections] == ["canal > Sluices", "canal > Weirs"]


def test_a_whole_bold_line_is_a_heading(tmp_path: Path) -> None:
    page = [Text("Dredging", bold=True), Text(BODY), Text("Fish ladders", bold=True), *[Text(BODY)] * 5]
    assert [one.item.name for one in items(read(tmp_path, pdf([page])))] == ["canal > Dredging", "canal > Fish ladders"]


def test_a_footer_of_every_page_is_read_once(tmp_path: Path) -> None:
    pages: list[list[Text] | str] = [
        [Text(f"Lock {n} opens at dawn."), Text("It has two gates."), Text(f"Canal trust, page {n}")]
        for n in range(1, 6)
    ]
    texts = [one.item.text for one in items(read(tmp_path, pdf(pages)))]
    assert sum("Canal trust" in text for text in texts) == 1
    assert all(f"Lock {n} opens" in text for n, text in enumerate(texts, 1))


def test_properties_become_metadata_and_time(tmp_path: Path) -> None:
    info = {"Title": "Microsoft Word - Dredging plan.docx", "Author": "Ana", "CreationDate": "D:20240301120000+01'00'"}
    [one] = items(read(tmp_path, pdf([[Text(BODY)]], info=info)))
    assert (one.item.name, one.item.metadata["author"]) == ("Dredging plan", "Ana")
    assert one.item.timestamp == datetime(2024, 3, 1, 11, tzinfo=UTC)


def test_a_name_that_ends_with_a_nul_is_read_without_it(tmp_path: Path) -> None:
    outline = [("Weirs\0", 0), ("Locks\0", 1)]
    pages: list[list[Text] | str] = [[Text("Weirs"), Text(BODY)], [Text("Locks"), Text(BODY)]]
    sections = items(read(tmp_path, pdf(pages, info={"Title": "Plan\0", "Author": "Ana\0"}, outline=outline)))
    assert [one.item.name for one in sections] == ["Plan > Weirs", "Plan > Locks"]
    assert sections[0].item.metadata["author"] == "Ana"


def test_scanned_pages_are_named(tmp_path: Path) -> None:
    pages: list[list[Text] | str] = [[Text(BODY)], PICTURE, PICTURE, [Text(BODY)], PICTURE]
    *read_pages, refusal = read(tmp_path, pdf(pages))
    assert len(items(read_pages)) == 2
    assert isinstance(refusal, Refused)
    assert "pages 2-3, 5" in refusal.reason
    assert "ocrmypdf" in refusal.fix


def test_a_scan_is_refused_by_name(tmp_path: Path) -> None:
    [refusal] = read(tmp_path, pdf([PICTURE, PICTURE]))
    assert isinstance(refusal, Refused)
    assert refusal.path.endswith("canal.pdf")
    assert "pictures without text" in refusal.reason


def test_a_cut_file_is_refused_with_a_way_out(tmp_path: Path) -> None:
    [refusal] = read(tmp_path, b"%PDF-1.7\n1 0 obj\n<</Type/Cat")
    assert isinstance(refusal, Refused)
    assert ("cut off" in refusal.reason, "save it anew" in refusal.fix) == (True, True)


def test_a_password_is_said(tmp_path: Path) -> None:
    # Encrypted for another key than that of the empty password: no reader can open it without being told one.
    whole = pdf([[Text(BODY)]])
    lock = b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (b"11" * 32, b"22" * 32)
    [refusal] = read(tmp_path, whole.replace(b"trailer\n<<", b"trailer\n<<" + lock))
    assert isinstance(refusal, Refused)
    assert "password" in refusal.reason
    assert "qpdf" in refusal.fix


def test_a_pdf_is_known_by_its_content(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, pdf([[Text(BODY)]]), "canal.txt"))
    assert (one.reader, one.item.text) == ("pdf", BODY)


def test_a_gzipped_pdf_is_read(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, gzip.compress(pdf([[Text(BODY)]])), "canal.pdf.gz"))
    assert one.item.text == BODY


@pytest.mark.parametrize("pages", [[[]], [[], []]])
def test_blank_pages_have_nothing_to_read(tmp_path: Path, pages: list[list[Text] | str]) -> None:
    [refusal] = read(tmp_path, pdf(pages))
    assert isinstance(refusal, Refused)
    assert "blank" in refusal.reason


def test_lines_without_width_are_read() -> None:
    assert paragraphs([Line("Turned", 9, 50, 50, 90, 90), Line("letters", 9, 60, 60, 80, 80)]).split() == [
        "Turned",
        "letters",
    ]
