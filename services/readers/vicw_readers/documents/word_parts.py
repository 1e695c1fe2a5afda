"""What Word documents say where mammoth does not look: text boxes, simple fields, formulas, page headers."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from vicw_readers.documents.model import DocumentSection
from vicw_readers.documents.xml_tree import parse_xml

_STORIES = re.compile(r"word/(?:document|footnotes|endnotes|comments)\d*\.xml")
_STYLES = "word/styles.xml"
_UNNAMED = re.compile(rb"<w:style(?:(?![^>]*\sw:type=)|(?![^>]*\sw:styleId=))[\s>]")
"""A style that does not say what it is for (paragraphs), or has no id (nothing can have it): mammoth takes neither."""
_EDGES = re.compile(r"word/(?:header|footer)\d*\.xml")
_LEFT_OUT = re.compile(rb"txbxContent|fldSimple|oMath|<w:(?:dir|bdo|ruby|cr)\b|<v:(?:oval|line|polyline|curve|arc)\b")
_WRAPPERS = {"fldSimple", "dir", "bdo", "ruby", "rubyBase", "oMathPara"}
"""Elements that only wrap text."""
_DROPPED = {"rubyPr", "rt"}
_SHAPES = {"oval", "line", "polyline", "curve", "arc"}
_EDGE_TITLE = "Page headers and footers"


def with_all_text(archive: zipfile.ZipFile) -> io.BytesIO | None:
    """Return a copy of a document in which mammoth finds all text, without its media; None if it does already.

    Raises UnreadableFileError for broken XML.
    """
    stories = {name: archive.read(name) for name in archive.namelist() if _STORIES.fullmatch(name)}
    if _STYLES in archive.namelist() and _UNNAMED.search(styles := archive.read(_STYLES)):
        stories[_STYLES] = styles
    elif not any(map(_LEFT_OUT.search, stories.values())):
        return None
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as target:
        for name in archive.namelist():
            if name in stories:
                parse_xml(stories[name])  # refuses what no document has
                root = ElementTree.fromstring(stories[name])  # noqa: S314 - without a document type, as was checked
                _mend(root)
                target.writestr(name, ElementTree.tostring(root))
            elif name.endswith((".xml", ".rels")):
                target.writestr(name, archive.read(name))
    copy.seek(0)
    return copy


def edges_of(archive: zipfile.ZipFile) -> Iterator[DocumentSection]:
    """Yield what the headers and footers of the pages say, each text once, as one section; nothing for mere numbers."""
    texts: dict[str, None] = {}
    for name in sorted(filter(_EDGES.fullmatch, archive.namelist())):
        for paragraph in parse_xml(archive.read(name)).iter("p"):
            runs = (
                "\t" if part.tag == "tab" else part.text or "" for part in paragraph.iter() if part.tag in {"t", "tab"}
            )
            text = " ".join("".join(runs).split())
            if any(map(str.isalpha, text)):
                texts[text] = None
    if texts:
        yield DocumentSection("\n".join(texts), (_EDGE_TITLE,))


def _mend(parent: Element) -> None:
    """Turn what stands in an element into what mammoth reads, without recursion: a file nests as deep as it likes."""
    waiting = [parent]
    while waiting:
        element = waiting.pop()
        children: list[Element] = []
        unread = list(element)[::-1]
        while unread:
            child = unread.pop()
            name = _local(child)
            if name in _WRAPPERS:
                unread += list(child)[::-1]
            elif name == "oMath":
                children.append(_formula(child, element))
            elif name == "AlternateContent" and (boxes := _text_boxes(child)):
                children.append(_picture_of(boxes))
            elif name == "drawing" and (boxes := _text_boxes(child)):
                children += [child, _picture_of(boxes)]
            elif name == "style" and f"{_space(child)}styleId" not in child.attrib:
                continue
            elif name not in _DROPPED:
                children.append(child)
        for child in children:
            if _local(child) == "style":
                child.attrib.setdefault(f"{_space(child)}type", "paragraph")
            elif _local(child) == "cr":
                child.tag = f"{_space(child)}br"
            elif _local(child) in _SHAPES:
                child.tag = f"{_space(child)}shape"
        element[:] = children
        waiting += children


def _text_boxes(element: Element) -> list[Element]:
    """Return the outermost text boxes, of a choice and its fallback only those of the first that has any."""
    found: list[Element] = []
    open_elements = [element]
    while open_elements:
        one = open_elements.pop()
        if _local(one) == "txbxContent":
            found.append(one)
        elif _local(one) == "AlternateContent":
            having = (part for part in one if any(_local(inner) == "txbxContent" for inner in part.iter()))
            open_elements += [part for part in (next(having, None),) if part is not None]
        else:
            open_elements += list(one)[::-1]
    return found


def _picture_of(boxes: list[Element]) -> Element:
    """Return a picture with text boxes: mammoth puts its text below the paragraph."""
    picture = Element(f"{_space(boxes[0])}pict")
    picture.extend(boxes)
    return picture


def _formula(formula: Element, parent: Element) -> Element:
    """Return the signs of a formula as a run of text."""
    word = next((_space(one) for one in (parent, *parent) if "wordprocessingml" in one.tag), _space(parent))
    run = Element(f"{word}r")
    text = ElementTree.SubElement(run, f"{word}t")
    text.text = "".join(part.text or "" for part in formula.iter() if _local(part) == "t")
    return run


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _space(element: Element) -> str:
    return element.tag[: element.tag.find("}") + 1]
