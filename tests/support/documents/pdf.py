"""Small PDF files, written by hand."""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A line of a page: ``size`` in points."""

    text: str
    size: float = 11
    bold: bool = False


PICTURE = "picture"
"""A page that is a picture."""


def pdf(
    pages: list[list[Text] | str],
    *,
    info: dict[str, str] | None = None,
    outline: list[tuple[str, int]] | None = None,
    packed: bool = False,
) -> bytes:
    """Return a PDF; ``outline`` is of (title, page from 0), ``info`` its properties, ``packed`` deflates its pages."""
    objects: list[bytes] = [b"", b"", _font("Helvetica"), _font("Helvetica-Bold")]
    image = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
    objects.append(image + b"stream\n\x80\nendstream")
    kids = []
    for page in pages:
        content = b"q 500 0 0 700 50 50 cm /Im Do Q" if isinstance(page, str) else _content(page)
        filters = b""
        if packed:
            content, filters = zlib.compress(content), b"/Filter/FlateDecode"
        objects.append(b"<</Length %d%s>>stream\n%s\nendstream" % (len(content), filters, content))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R/F2 4 0 R>>/XObject<</Im 5 0 R>>>>>>" % len(objects)
        )
        kids.append(len(objects))
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    root = b"<</Type/Catalog/Pages 2 0 R"
    if outline:
        first = len(objects) + 2
        root += b"/Outlines %d 0 R" % (first - 1)
        objects.append(b"<</Type/Outlines/First %d 0 R/Last %d 0 R>>" % (first, first + len(outline) - 1))
        for at, (title, page_number) in enumerate(outline):
            following = b"/Next %d 0 R" % (first + at + 1) if at + 1 < len(outline) else b""
            objects.append(
                b"<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>"
                % (title.encode("latin-1"), first - 1, kids[page_number], following)
            )
    objects[0] = root + b">>"
    trailer = b"<</Root 1 0 R/Size %d" % (len(objects) + 2)
    if info:
        objects.append(b"<<%s>>" % b"".join(b"/%s(%s)" % (k.encode(), v.encode("latin-1")) for k, v in info.items()))
        trailer += b"/Info %d 0 R" % len(objects)
    return _file(objects, trailer + b">>")


def _font(name: str) -> bytes:
    return b"<</Type/Font/Subtype/Type1/BaseFont/%s/Encoding/WinAnsiEncoding>>" % name.encode()


def _content(lines: list[Text]) -> bytes:
    parts, y = [], 740.0
    for line in lines:
        y -= line.size * 1.3
        said = line.text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        parts.append(b"BT /%s %g Tf 60 %g Td (%s) Tj ET" % (b"F2" if line.bold else b"F1", line.size, y, said))
    return b"\n".join(parts)


def _file(objects: list[bytes], trailer: bytes) -> bytes:
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
        trailer,
        len(out),
    )
