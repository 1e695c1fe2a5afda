"""Parser of PowerPoint: the text of each slide from its XML, in the order of the presentation."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import DocumentSection, Part, UnreadPart
from vicw_readers.documents.packed import office_properties, packed_document, refuse_doctypes
from vicw_readers.documents.xml_tree import parse_xml
from vicw_readers.records import UnreadableFileError

_ID = "http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DATA = "http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_TITLES = {"title", "ctrTitle"}
_OF_ALL_SLIDES = {"dt", "ftr", "sldNum", "hdr"}


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield a section for each slide, and the numbers of those that have only pictures."""
    with packed_document(path, limits) as archive:
        refuse_doctypes(archive)
        yield office_properties(archive)
        main = next((name for name in archive.namelist() if name.startswith("ppt/presentation")), "")
        if not main:
            raise UnreadableFileError("is no whole presentation: its list of slides is missing")
        targets = _related(archive, main)
        pictures = []
        for number, reference in enumerate(parse_xml(archive.read(main)).iter("sldId"), 1):
            name = targets.get(reference.get(_ID, ""), "")
            if name not in archive.namelist():
                continue
            slide = parse_xml(archive.read(name))
            title, texts = _texts(slide, _diagrams(archive, name))
            notes = _notes(archive, name)
            if title or texts or notes:
                text = "\n\n".join(filter(None, (title, *texts, notes and f"Notes: {notes}")))
                yield DocumentSection(text, (title or f"Slide {number}",), f"slide-{number}", {"slide": number})
            elif next(slide.iter("pic"), None) is not None:
                pictures.append(number)
        if pictures:
            listed = ", ".join(map(str, pictures))
            yield UnreadPart(f"has slides that are pictures without text: {listed}", "Describe them in their notes")


def _related(archive: zipfile.ZipFile, name: str, kind: str = "") -> dict[str, str]:
    """Return the parts that a part names, by id; ``kind`` is the last word of their type."""
    folder, base = posixpath.split(name)
    relations = f"{folder}/_rels/{base}.rels"
    if relations not in archive.namelist():
        return {}
    return {
        relation.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")
        for relation in parse_xml(archive.read(relations)).iter("Relationship")
        if relation.get("TargetMode") != "External" and relation.get("Type", "").endswith(kind)
    }


def _diagrams(archive: zipfile.ZipFile, slide: str) -> dict[str, str]:
    """Return the text of the diagrams of a slide (SmartArt), by the id under which it names them."""
    named = _related(archive, slide, "/diagramData").items()
    held = set(archive.namelist())
    return {identity: _paragraphs(parse_xml(archive.read(name)), "\n") for identity, name in named if name in held}


def _texts(slide: Element, diagrams: dict[str, str]) -> tuple[str, list[str]]:
    """Return the title of a slide, and the texts of its other shapes, tables and diagrams in their order."""
    title = ""
    texts: list[str] = []
    for shape in _shapes(slide):
        if shape.tag == "graphicFrame":
            rows = [" | ".join(_paragraphs(cell, " ") for cell in row.iter("tc")) for row in shape.iter("tr")]
            drawn = (diagrams.get(part.get(_DATA, ""), "") for part in shape.iter("relIds"))
            texts += ["\n".join(rows)] if rows else filter(None, [_paragraphs(shape, "\n"), *drawn])
            continue
        place = shape.find("nvSpPr/nvPr/ph")
        kind = place.get("type", "") if place is not None else ""
        text = _paragraphs(shape, "\n")
        if kind in _TITLES and not title:
            title = " ".join(text.split())
        elif text and kind not in _OF_ALL_SLIDES:
            texts.append(text)
    return title, texts


def _shapes(slide: Element) -> Iterator[Element]:
    """Yield the shapes of a slide, those of groups and of what newer programs draw, too, but not their fallbacks."""
    open_elements = [slide]
    while open_elements:
        element = open_elements.pop()
        if element.tag in {"sp", "graphicFrame"}:
            yield element
        elif element.tag != "Fallback":
            open_elements += reversed(element)


def _paragraphs(element: Element, joint: str) -> str:
    lines = []
    for paragraph in element.iter("p"):
        text = "".join(
            "\n" if part.tag == "br" else part.text or "" for part in paragraph.iter() if part.tag in {"t", "br"}
        )
        lines.append(text.strip())
    return joint.join(filter(None, lines))


def _notes(archive: zipfile.ZipFile, slide: str) -> str:
    """Return what the speaker noted under a slide."""
    for name in _related(archive, slide, "/notesSlide").values():
        if name in archive.namelist():
            for shape in _shapes(parse_xml(archive.read(name))):
                place = shape.find("nvSpPr/nvPr/ph")
                if place is not None and place.get("type") == "body":
                    return _paragraphs(shape, "\n")
    return ""
