"""Small Office files and books, written as the archives of XML that they are."""

from __future__ import annotations

import io
import zipfile

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_CORE = (
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
)


def packed(files: dict[str, str | bytes]) -> bytes:
    """Return a .zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def core(**properties: str) -> str:
    """Return docProps/core.xml with properties: ``title``, ``creator``, ``created``, ``modified``."""
    said = ""
    for name, value in properties.items():
        prefix = "dcterms" if name in {"created", "modified"} else "dc"
        said += f"<{prefix}:{name}>{value}</{prefix}:{name}>"
    return f"<cp:coreProperties {_CORE}>{said}</cp:coreProperties>"


def docx(body: str, *, styles: str = "", more: dict[str, str | bytes] | None = None) -> bytes:
    """Return a Word document; ``body`` and ``styles`` are the content of w:body and w:styles."""
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
        f'ContentType="{main}"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
        ' Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
    }
    return packed(files | (more or {}))


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of a Word document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_style(identity: str, name: str, *, level: int | None = None, base: str = "") -> str:
    """Return a paragraph style, with its level of the outline from 0 and the style that it builds on."""
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    outline = f'<w:pPr><w:outlineLvl w:val="{level}"/></w:pPr>' if level is not None else ""
    return f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/>{based}{outline}</w:style>'


ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(1024)
"""How Office stores a document that needs a password: not packed, but in the container of its old formats."""


_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(targets: dict[str, tuple[str, str]]) -> str:
    """Return a part of relations: type and target by id."""
    said = "".join(
        f'<Relationship Id="{identity}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for identity, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONS}">{said}</Relationships>'


def shape(text: str, kind: str = "") -> str:
    """Return a shape of a slide with a text; ``kind`` is that of its place: "title", "body", "sldNum"."""
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def pptx(
    slides: list[str], *, notes: dict[int, str] | None = None, more: dict[str, str | bytes] | None = None
) -> bytes:
    """Return a presentation of the shapes of each slide; ``notes`` are texts by the number of the slide, from 1."""
    names = 'xmlns:p="urn:p" xmlns:a="urn:a"'
    order = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    files: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {names} {_R}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        # The files are named in another order than the slides have.
        "ppt/_rels/presentation.xml.rels": relations(
            {f"r{n}": ("slide", f"slides/slide{len(slides) + 1 - n}.xml") for n in range(1, len(slides) + 1)}
        ),
    }
    for n, shapes in enumerate(slides, 1):
        file = len(slides) + 1 - n
        files[f"ppt/slides/slide{file}.xml"] = f"<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        if text := (notes or {}).get(n):
            files[f"ppt/slides/_rels/slide{file}.xml.rels"] = relations(
                {"n": ("notesSlide", f"../notesSlides/notes{n}.xml")}
            )
            files[f"ppt/notesSlides/notes{n}.xml"] = f"<p:notes {names}>{shape(text, 'body')}</p:notes>"
    return packed(files | (more or {}))


def xlsx(sheets: dict[str, list[list[str | float]]], *, hidden: str = "") -> bytes:
    """Return a workbook; texts stand in the cells, numbers are numbers. The sheet ``hidden`` is not shown."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"{" state='hidden'" if name == hidden else ""}/>'
        for n, name in enumerate(sheets, 1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations({"r0": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{main}" {_R}><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
        ),
    }
    for n, rows in enumerate(sheets.values(), 1):
        data = ""
        for number, row in enumerate(rows, 1):
            cells = "".join(_cell(f"{chr(65 + column)}{number}", value) for column, value in enumerate(row))
            data += f'<row r="{number}">{cells}</row>'
        files[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>'
    return packed(files)


def _cell(place: str, value: str | float) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def epub(chapters: dict[str, str], *, metadata: str = "", more: dict[str, str | bytes] | None = None) -> bytes:
    """Return a book of pages of HTML by their names, in their order; ``metadata`` is Dublin Core in XML."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<metadata>{metadata}</metadata><manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="nav"/>{spine}</spine></package>',
        "OEBPS/nav.xhtml": "<html><body><nav><ol><li>Contents</ol></nav></body></html>",
    }
    return packed(files | {f"OEBPS/{name}": page for name, page in chapters.items()} | (more or {}))
