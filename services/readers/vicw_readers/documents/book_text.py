"""Parser of EPUB: the chapters in the order of the spine, each read as a page is."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from vicw_readers.documents.blocks import sections_of
from vicw_readers.documents.html.page_reader import PageReader
from vicw_readers.documents.html.text import decode_page
from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Part, Properties, UnreadPart
from vicw_readers.documents.packed import packed_document
from vicw_readers.documents.xml_tree import parse_xml
from vicw_readers.records import UnreadableFileError

_CONTAINER = "META-INF/container.xml"
_LOCKED = "META-INF/encryption.xml"
_FONT_METHODS = ("idpf.org/2008/embedding", "adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield the sections of a book."""
    with packed_document(path, limits) as archive:
        rootfile = parse_xml(archive.read(_CONTAINER)).find(".//rootfile")
        name = rootfile.get("full-path", "") if rootfile is not None else ""
        if name not in archive.namelist():
            raise UnreadableFileError("is no whole book: its list of chapters is missing")
        if _is_locked(archive):
            raise UnreadableFileError("is locked (DRM)", fix="Import a copy without it")
        package = parse_xml(archive.read(name))
        yield _properties(package)
        for chapter in _chapters(package, posixpath.dirname(name)):
            if chapter not in archive.namelist():
                yield UnreadPart(f"lacks its chapter {chapter!r}")
                continue
            page = PageReader(whole=True)
            placed = page.read(decode_page(archive.read(chapter)))
            stem = posixpath.splitext(posixpath.basename(chapter))[0]
            for section in sections_of(one.block for one in placed):
                # What stands before the first heading of a chapter belongs to the chapter, not to the book's start.
                title = page.title or stem
                yield section if section.trail else replace(section, trail=(title,), anchor=stem)


def _is_locked(archive: zipfile.ZipFile) -> bool:
    """Return whether anything but fonts is encrypted."""
    if _LOCKED not in archive.namelist():
        return False
    methods = [
        method.get("Algorithm", "")
        for data in parse_xml(archive.read(_LOCKED)).iter("EncryptedData")
        for method in data.iter("EncryptionMethod")
    ]
    return any(not any(font in method for font in _FONT_METHODS) for method in methods)


def _properties(package: Element) -> Properties:
    said: dict[str, str] = {}
    for element in package.iter():
        if element.tag in {"title", "creator", "date", "language"} and element.text:
            said.setdefault(element.tag, element.text.strip())
    return Properties(
        title=said.get("title", ""),
        author=said.get("creator", ""),
        created=said.get("date", ""),
        language=said.get("language", ""),
    )


def _chapters(package: Element, folder: str) -> Iterator[str]:
    """Yield the names of the chapters' files, without the table of contents."""
    items = {
        item.get("id"): unquote(item.get("href", "").partition("#")[0])
        for item in package.iter("item")
        if item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split()
    }
    for reference in package.iter("itemref"):
        if href := items.get(reference.get("idref")):
            yield posixpath.normpath(posixpath.join(folder, href))
