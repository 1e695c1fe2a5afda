"""Documents that are archives (.docx, .pptx, .xlsx, .epub): opened only if they unpack to a size that is allowed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Properties
from vicw_readers.documents.xml_tree import parse_xml
from vicw_readers.intake.limits import limits as read_limits
from vicw_readers.records import UnreadableFileError

_TRUSTED = "Raise VICW_READERS_ARCHIVE_EXPANSION if you trust it"
_DOCTYPE = "<!DOCTYPE"
_SCANNED_BYTES = 64 * 1024
_PROPERTIES = "docProps/core.xml"


@contextmanager
def packed_document(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """Open a packed document, by what its archive says of sizes: zipfile reads no more of a member than that.

    Raises UnreadableFileError if it is broken, encrypted, or too large.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        fix = "Open it in its own program and save it anew"
        raise UnreadableFileError(f"is broken or cut off: {error}", fix=fix) from None
    intake = read_limits()
    with archive:
        infos = archive.infolist()
        total = sum(info.file_size for info in infos)
        if total > limits.unpacked_mb * 2**20:
            fix = "Raise VICW_DOCUMENTS_UNPACKED_MB if you trust it"
            raise UnreadableFileError(f"unpacks to {total // 2**20} MB, over {limits.unpacked_mb}", fix=fix)
        for info in infos:
            most = intake.archive_expansion
            if info.file_size > max(intake.member_bytes, info.compress_size * most):
                raise UnreadableFileError(
                    f"holds {info.filename!r}, which expands more than {most} times", fix=_TRUSTED
                )
            if info.flag_bits & 1:
                raise UnreadableFileError("is encrypted", fix="Save a copy without password")
        yield archive


def refuse_doctypes(archive: zipfile.ZipFile) -> None:
    """Raise UnreadableFileError if the XML of an Office document declares a type: none may, and entities need one."""
    marks = tuple(_DOCTYPE.encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))
    for info in archive.infolist():
        if not info.filename.endswith((".xml", ".rels")):
            continue
        with archive.open(info) as member:
            start = member.read(_SCANNED_BYTES)
        if any(mark in start for mark in marks):
            raise UnreadableFileError("has a document type inside, by which XML can expand without end")


def office_properties(archive: zipfile.ZipFile) -> Properties:
    """Return what an Office document says of itself."""
    if _PROPERTIES not in archive.namelist():
        return Properties()
    said = {element.tag: (element.text or "").strip() for element in parse_xml(archive.read(_PROPERTIES))}
    return Properties(
        title=said.get("title", ""),
        author=said.get("creator", ""),
        created=said.get("created", ""),
        modified=said.get("modified", ""),
        language=said.get("language", ""),
    )
