"""Parser of Word documents: mammoth makes them HTML, which is read as pages are."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from vicw_readers.documents.blocks import Block, sections_of
from vicw_readers.documents.html.page_reader import PageReader
from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Part
from vicw_readers.documents.packed import office_properties, packed_document, refuse_doctypes
from vicw_readers.documents.word_parts import edges_of, with_all_text
from vicw_readers.documents.xml_tree import parse_xml

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STYLES = "word/styles.xml"
_DEEPEST = 6
_MAP = ("p[style-name='Title'] => h1:fresh", "comment-reference => sup", "br[type='page'] => hr")


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield the sections of a document."""
    import mammoth

    with packed_document(path, limits) as archive:
        refuse_doctypes(archive)
        yield office_properties(archive)
        styles = _heading_styles(archive)
        edges = list(edges_of(archive))
        copy = with_all_text(archive)
    with copy or path.open("rb") as file:
        page = mammoth.convert_to_html(
            file, style_map="\n".join((*_MAP, *styles)), convert_image=mammoth.images.img_element(_without_bytes)
        )
    yield from sections_of(_blocks(page.value))
    yield from edges


def _blocks(page: str) -> Iterator[Block]:
    for placed in PageReader(whole=True).read(page):
        yield placed.block


def _without_bytes(_: Any) -> dict[str, str]:
    """Return the attributes of a picture: none, so that its description alone stays."""
    return {"src": ""}


def _heading_styles(archive: zipfile.ZipFile) -> list[str]:
    """Return a rule for each style of headings, by its level of the outline or that of the style it builds on.

    They are a level deeper than the title, which has the first.
    """
    if _STYLES not in archive.namelist():
        return []
    styles = {style.get(f"{_W}styleId", ""): style for style in parse_xml(archive.read(_STYLES)).iter("style")}
    rules = []
    for identity, style in styles.items():
        level = _outline_level(style, styles)
        if style.get(f"{_W}type", "paragraph") == "paragraph" and level is not None and identity.isalnum():
            rules.append(f"p.{identity} => h{min(level + 2, _DEEPEST)}:fresh")
    return rules


def _outline_level(style: Element, styles: dict[str, Element]) -> int | None:
    for _ in range(len(styles)):
        own = style.find("pPr/outlineLvl")
        if own is not None:
            level = own.get(f"{_W}val", "")
            return int(level) if level.isdigit() and int(level) < 9 else None
        base = style.find("basedOn")
        above = styles.get(base.get(f"{_W}val", "")) if base is not None else None
        if above is None:
            return None
        style = above
    return None
