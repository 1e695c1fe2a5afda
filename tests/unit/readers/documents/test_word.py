"""Reader of Word documents: headings by style and level, tables, notes, and files that are broken, locked or bombs."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.documents.office import ENCRYPTED, core, docx, packed, paragraph, word_style
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem

pytest.importorskip("mammoth", reason="vicw[documents] is not installed")

STYLES = (
    word_style("Title", "Title")
    + word_style("berschrift1", "heading 1", level=0)
    + word_style("berschrift2", "heading 2", level=1)
    + word_style("Kapitel", "Kapitel", base="berschrift1")
)


def read(folder: Path, data: bytes, name: str = "minutes.docx") -> list[Record]:
    (folder / name).write_bytes(data)
    return list(read_paths([folder / name]))


def items(records: list[Record]) -> list[SourceItem]:
    assert all(isinstance(record, SourceItem) for record in records), records
    return [record for record in records if isinstance(record, SourceItem)]


def refusal(records: list[Record]) -> Refused:
    [one] = records
    assert isinstance(one, Refused)
    return one


def test_headings_are_told_by_the_level_of_their_style(tmp_path: Path) -> None:
    body = (
        paragraph("Ferry board", "Title")
        + paragraph("Budget", "berschrift1")
        + paragraph("The board approved 2.1 million.")
        + paragraph("Project Heron", "berschrift2")
        + paragraph("Heron is late.")
        + paragraph("Staff", "Kapitel")
        + paragraph("Two deckhands were hired.")
    )
    sections = items(read(tmp_path, docx(body, styles=STYLES)))
    assert [(one.item.name, one.item.id) for one in sections] == [
        ("minutes > Ferry board", "minutes.docx#ferry-board"),
        ("minutes > Ferry board > Budget", "minutes.docx#budget"),
        ("minutes > Ferry board > Budget > Project Heron", "minutes.docx#project-heron"),
        ("minutes > Ferry board > Staff", "minutes.docx#staff"),
    ]
    assert sections[2].item.text == "Project Heron\n\nHeron is late."


def test_a_style_that_names_no_type_is_one_of_paragraphs_and_one_without_id_is_none(tmp_path: Path) -> None:
    styles = word_style("Amt", "Amt", level=0).replace(' w:type="paragraph"', "")
    styles += word_style("Title", "Title").replace(' w:styleId="Title"', "")
    assert (styles.count("w:type"), styles.count("w:styleId")) == (1, 1)
    sections = items(read(tmp_path, docx(paragraph("Board", "Amt") + paragraph("It met."), styles=styles)))
    assert [(one.item.name, one.item.text) for one in sections] == [("minutes > Board", "Board\n\nIt met.")]


def test_rows_of_a_table_are_lines(tmp_path: Path) -> None:
    cells = [["Ship", "Year"], ["Gannet", "1998"]]
    rows = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in cells)
    [one] = items(read(tmp_path, docx(paragraph("Fleet") + f"<w:tbl>{rows}</w:tbl>")))
    assert one.item.text == "Fleet\n\nShip | Year\nGannet | 1998"


def test_deleted_text_is_gone_and_inserted_text_is_read(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Sails at </w:t></w:r><w:del><w:r><w:delText>six</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>seven</w:t></w:r></w:ins></w:p>"
    )
    [one] = items(read(tmp_path, docx(body)))
    assert one.item.text == "Sails at seven"


def test_properties_become_name_metadata_and_time(tmp_path: Path) -> None:
    said = core(title="Ferry minutes", creator="Ana", created="2024-03-01T10:00:00Z")
    [one] = items(read(tmp_path, docx(paragraph("Approved."), more={"docProps/core.xml": said})))
    assert (one.item.name, one.item.metadata["author"]) == ("Ferry minutes", "Ana")
    assert one.item.timestamp == datetime(2024, 3, 1, 10, tzinfo=UTC)


def test_the_date_of_a_template_is_no_time(tmp_path: Path) -> None:
    said = core(created="2013-12-23T23:15:00Z")
    [one] = items(read(tmp_path, docx(paragraph("Approved."), more={"docProps/core.xml": said})))
    assert one.item.timestamp is None
    said = core(created="0101-01-01T00:00:00Z")
    (unknown,) = read(tmp_path, docx(paragraph("Text."), more={"docProps/core.xml": said}))
    assert isinstance(unknown, SourceItem)
    assert unknown.item.timestamp is None, "a year that programs write for unknown"


def test_a_document_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, docx(paragraph("Approved.")), "minutes.zip"))
    assert (one.reader, one.item.text) == ("docx", "Approved.")


def test_an_encrypted_document_is_said_to_be_so(tmp_path: Path) -> None:
    found = refusal(read(tmp_path, ENCRYPTED))
    assert "encrypted" in found.reason
    assert "without password" in found.fix


def test_a_cut_document_is_refused_with_a_way_out(tmp_path: Path) -> None:
    found = refusal(read(tmp_path, docx(paragraph("Approved."))[:-200]))
    assert ("cut off" in found.reason, "save it anew" in found.fix) == (True, True)


def test_an_empty_document_has_nothing_to_read(tmp_path: Path) -> None:
    assert "no text" in refusal(read(tmp_path, docx(""))).reason


def test_entities_are_refused_before_they_expand(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><w:document/>'
    assert "document type" in refusal(read(tmp_path, packed({"word/document.xml": bomb}))).reason


def test_a_member_that_expands_too_far_is_not_unpacked(tmp_path: Path) -> None:
    body = "<w:document>" + " " * 64 * 2**20 + "</w:document>"
    assert "expands more than" in refusal(read(tmp_path, packed({"word/document.xml": body}))).reason


def test_a_document_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    data = packed({"word/document.xml": "<w:document/>", "word/media/film.avi": b"film"})
    at = data.rindex(b"PK\x01\x02")  # the entry of the film in the directory says another size
    grown = data[: at + 24] + struct.pack("<I", 600 * 2**20) + data[at + 28 :]
    assert "unpacks to 600 MB" in refusal(read(tmp_path, grown)).reason


_SPACES = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def within(body: str) -> str:
    """Return content with the namespaces of drawings and formulas."""
    return f"<w:customXml {_SPACES}>{body}</w:customXml>"


def control(content: str) -> str:
    return f'<w:sdt><w:sdtPr><w:alias w:val="Field"/></w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>'


def box(text: str) -> str:
    return f"<w:txbxContent>{text}</w:txbxContent>"


def drawn(text: str, fallback: str = "") -> str:
    shape = f"<w:drawing><wps:wsp><wps:txbx>{box(text)}</wps:txbx></wps:wsp></w:drawing>"
    choice = f'<mc:Choice Requires="wps">{shape}</mc:Choice>'
    return f"<w:r><mc:AlternateContent>{choice}{fallback}</mc:AlternateContent></w:r>"


OLD_BOX = f"<w:pict><v:shape><v:textbox>{box(paragraph('In a box.'))}</v:textbox></v:shape></w:pict>"
IN_BOTH = f"<mc:Fallback>{OLD_BOX}</mc:Fallback>"
OVAL = f"<w:pict><v:oval><v:textbox>{box(paragraph('Round.'))}</v:textbox></v:oval></w:pict>"
FIELD = '<w:fldSimple w:instr="REF x"><w:r><w:t>part 2</w:t></w:r></w:fldSimple>'
RUBY = "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"
ROW = f"<w:tr>{control(f'<w:tc>{paragraph("Ana")}</w:tc>')}<w:tc>{paragraph('Bo')}</w:tc></w:tr>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{run('Plan')}{drawn(paragraph('In a box.'))}</w:p>", "Plan\n\nIn a box."),
        (f"<w:p>{drawn(paragraph('In a box.'), IN_BOTH)}</w:p>", "In a box."),
        (f"<w:p>{drawn(control(paragraph('Controlled.')))}</w:p>", "Controlled."),
        (f"<w:p>{drawn(paragraph('Outer.') + f'<w:p>{drawn(paragraph("Inner."))}</w:p>')}</w:p>", "Outer.\n\nInner."),
        (f"<w:p><w:r>{OVAL}</w:r></w:p>", "Round."),
        (f"<w:p>{run('See ')}{FIELD}</w:p>", "See part 2"),
        (f"<w:p>{run('As ')}<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath></w:p>", "As a=b"),
        (f"<w:p>{RUBY}</w:p>", "漢"),
        (control(paragraph("Whole.") + control(paragraph("Nested."))), "Whole.\n\nNested."),
        (f"<w:p>{run('Due ')}{control(run('Friday'))}</w:p>", "Due Friday"),
        (f"<w:tbl>{control(ROW)}</w:tbl>", "Ana | Bo"),
    ],
)
def test_text_boxes_content_controls_fields_and_formulas_are_read(tmp_path: Path, body: str, text: str) -> None:
    [one] = items(read(tmp_path, docx(within(body))))
    assert one.item.text == text


def test_page_headers_and_footers_are_read_once_each(tmp_path: Path) -> None:
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    more: dict[str, str | bytes] = {
        "word/header1.xml": f"<w:hdr {word}>{paragraph('Ferry board, draft')}</w:hdr>",
        "word/header2.xml": f"<w:hdr {word}>{paragraph('Ferry board, draft')}{paragraph('Annex')}</w:hdr>",
        "word/footer1.xml": f"<w:ftr {word}>{paragraph('3 / 12')}</w:ftr>",
    }
    body, edges = items(read(tmp_path, docx(paragraph("Approved."), more=more)))
    assert body.item.text == "Approved."
    assert (edges.item.name, edges.item.text) == ("minutes > Page headers and footers", "Ferry board, draft\nAnnex")


@pytest.mark.parametrize("is_mended", [False, True])
def test_notes_and_comments_are_read_with_what_they_stand_at(tmp_path: Path, *, is_mended: bool) -> None:
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

    def part(root: str, name: str, text: str) -> str:
        return f'<w:{root} {word}><w:{name} w:id="7" w:author="Ana">{paragraph(text)}</w:{name}></w:{root}>'

    more: dict[str, str | bytes] = {
        "word/footnotes.xml": part("footnotes", "footnote", "By foot."),
        "word/endnotes.xml": part("endnotes", "endnote", "At the end."),
        "word/comments.xml": part("comments", "comment", "Says who?"),
    }
    marks = "".join(f'<w:r><w:{name}Reference w:id="7"/></w:r>' for name in ("footnote", "endnote", "comment"))
    body = f"<w:p>{run('Approved.')}{marks}</w:p>" + (within(f"<w:p>{FIELD}</w:p>") if is_mended else "")
    [one] = items(read(tmp_path, docx(body, more=more)))
    for words in ("By foot.", "At the end.", "Says who?"):
        assert words in one.item.text
    assert ("part 2" in one.item.text) is is_mended
