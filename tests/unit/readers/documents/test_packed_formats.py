"""Readers of slides, spreadsheets and books: their order, their names, and what they say of themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.documents.office import core, epub, packed, pptx, relations, shape, xlsx
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem


def read(folder: Path, name: str, data: bytes) -> list[Record]:
    (folder / name).write_bytes(data)
    return list(read_paths([folder / name]))


def items(records: list[Record]) -> list[SourceItem]:
    assert all(isinstance(record, SourceItem) for record in records), records
    return [record for record in records if isinstance(record, SourceItem)]


def test_slides_come_in_the_order_of_the_presentation_with_their_notes(tmp_path: Path) -> None:
    slides = [
        shape("Harbour plan", "ctrTitle") + shape("Ana", "subTitle") + shape("1", "sldNum"),
        shape("Heron berth", "title") + f"<p:grpSp>{shape('Late.\nWaits for timber.')}</p:grpSp>",
    ]
    said = core(title="Harbour plan 2024", creator="Ana", created="2024-03-01T10:00:00Z")
    data = pptx(slides, notes={2: "Ask Bo for the price."}, more={"docProps/core.xml": said})
    first, second = items(read(tmp_path, "harbour.pptx", data))
    assert (first.item.id, first.item.name) == ("harbour.pptx#slide-1", "Harbour plan")
    assert first.item.text == "Harbour plan\n\nAna"
    assert (second.item.name, second.item.metadata["slide"]) == ("Harbour plan 2024 > Heron berth", 2)
    assert second.item.text == "Heron berth\n\nLate.\nWaits for timber.\n\nNotes: Ask Bo for the price."
    assert second.item.timestamp == datetime(2024, 3, 1, 10, tzinfo=UTC)


def test_rows_of_a_table_on_a_slide_are_lines(tmp_path: Path) -> None:
    def cell(text: str) -> str:
        return f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = "".join(f"<a:tr>{cell(left)}{cell(right)}</a:tr>" for left, right in (("Ship", "Year"), ("Gannet", "1998")))
    frame = f"<p:graphicFrame><a:graphic><a:tbl>{rows}</a:tbl></a:graphic></p:graphicFrame>"
    [one] = items(read(tmp_path, "fleet.pptx", pptx([shape("Fleet", "title") + frame])))
    assert one.item.text == "Fleet\n\nShip | Year\nGannet | 1998"


def test_what_a_diagram_and_nested_groups_say_is_read(tmp_path: Path) -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    data = f'<dgm:dataModel xmlns:dgm="{drawing}/diagram" xmlns:a="{drawing}/main"><dgm:ptLst>'
    data += "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{word}</a:t></a:r></a:p></dgm:t></dgm:pt>" for word in ("Plan", "Do")
    )
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    named = f'<d:relIds xmlns:d="{drawing}/diagram" xmlns:r="{office}" r:dm="r9"/>'
    frame = f"<p:graphicFrame><a:graphic>{named}</a:graphic></p:graphicFrame>"
    table = "<a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Cell</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl>"
    group = f"<p:grpSp><p:grpSp>{shape('Deep.')}<p:graphicFrame>{table}</p:graphicFrame></p:grpSp></p:grpSp>"
    more: dict[str, str | bytes] = {
        "ppt/diagrams/data1.xml": f"{data}</dgm:ptLst></dgm:dataModel>",
        "ppt/slides/_rels/slide1.xml.rels": relations({"r9": ("diagramData", "../diagrams/data1.xml")}),
    }
    [one] = items(read(tmp_path, "cycle.pptx", pptx([shape("Cycle", "title") + frame + group], more=more)))
    assert one.item.text == "Cycle\n\nPlan\nDo\n\nDeep.\n\nCell"


def test_slides_that_are_pictures_are_named(tmp_path: Path) -> None:
    one, refusal = read(tmp_path, "fleet.pptx", pptx([shape("Fleet", "title"), "<p:pic/>"]))
    assert isinstance(one, SourceItem)
    assert isinstance(refusal, Refused)
    assert refusal.reason.endswith("without text: 2")


def test_rows_of_sheets_repeat_their_header(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine", reason="vicw[documents] is not installed")
    ships: list[list[str | float]] = [["Ship", "Built", "Remark"]]
    ships += [[f"Gannet {n}", 1900.0 + n, "painted in spring " * 4] for n in range(40)]
    data = xlsx({"Fleet": ships, "Crew": [["Name", "Age"], ["Ana", 40.5]], "Old": [["Secret", "x"]]}, hidden="Old")
    *fleet, crew = items(read(tmp_path, "harbour.xlsx", data))
    assert len(fleet) > 2
    assert all(one.item.text.startswith("Ship | Built | Remark\nGannet ") for one in fleet)
    assert sum(one.item.text.count("Gannet") for one in fleet) == 40
    assert "Gannet 3 | 1903 | painted" in fleet[0].item.text
    assert (crew.item.id, crew.item.text) == ("harbour.xlsx#crew-rows-2", "Name | Age\nAna | 40.5")
    assert crew.item.metadata["row"] == 2
    assert crew.item.name == "harbour > Crew > Row 2"


def test_a_book_is_read_by_its_chapters(tmp_path: Path) -> None:
    chapters = {
        "one.xhtml": "<html><head><title>Foreword</title></head><body><p>For Ana.</p></body></html>",
        "two.xhtml": '<!DOCTYPE html SYSTEM "x.dtd"><html><body><h1>The lock</h1><p>It leaks.</p>'
        "<h2>The gate</h2><p>It rusts.</p></body></html>",
    }
    metadata = "<dc:title>Canal tales</dc:title><dc:creator>Bo Lee</dc:creator><dc:date>2019-05-04</dc:date>"
    sections = items(read(tmp_path, "tales.epub", epub(chapters, metadata=metadata)))
    assert [(one.item.name, one.item.id, one.item.text) for one in sections] == [
        ("Canal tales > Foreword", "tales.epub#one", "For Ana."),
        ("Canal tales > The lock", "tales.epub#the-lock", "The lock\n\nIt leaks."),
        ("Canal tales > The lock > The gate", "tales.epub#the-gate", "The gate\n\nIt rusts."),
    ]
    assert sections[0].item.metadata["author"] == "Bo Lee"
    assert sections[0].item.timestamp == datetime(2019, 5, 4, tzinfo=UTC)


def test_a_locked_book_is_refused(tmp_path: Path) -> None:
    method = '<EncryptionMethod Algorithm="aes256-cbc"/>'
    lock = f"<encryption><EncryptedData>{method}</EncryptedData></encryption>"
    [refusal] = read(tmp_path, "tales.epub", epub({"one.xhtml": "<p>x"}, more={"META-INF/encryption.xml": lock}))
    assert isinstance(refusal, Refused)
    assert "DRM" in refusal.reason


def test_entities_of_a_book_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><container><rootfiles/></container>'
    [refusal] = read(tmp_path, "tales.epub", packed({"META-INF/container.xml": bomb}))
    assert isinstance(refusal, Refused)
    assert "entities" in refusal.reason


@pytest.mark.parametrize("name", ["a.pptx", "a.epub", "a.xlsx"])
def test_a_cut_file_is_refused_with_its_kind(tmp_path: Path, name: str) -> None:
    if name == "a.xlsx":
        pytest.importorskip("python_calamine", reason="vicw[documents] is not installed")
    [refusal] = read(tmp_path, name, epub({"one.xhtml": "<p>x"})[:-120])
    assert isinstance(refusal, Refused)
    assert ("cut off" in refusal.reason, bool(refusal.kind), bool(refusal.fix)) == (True, True, True)
