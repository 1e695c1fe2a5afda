"""Reader of PDF."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.documents.document_reader import parsed_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_MARK_WITHIN = 1024
"""Bytes in which the mark must be; what stands before it, other readers ignore, too."""


class PdfReader:
    """Text of PDF files, by their headings or pages."""

    name = "pdf"
    title = "PDF"
    files = ("*.pdf",)
    keeps = "text by headings where they can be told, else by pages; page numbers, title, author, time of creation"
    leaves = "pictures (a page that is one is named), form fields, annotations; repeated page headers"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it begins as a PDF, whatever it is called."""
        return b"%PDF-" in start.head[:_MARK_WITHIN]

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a PDF."""
        return parsed_items(source, "pdf", needs="pypdfium2")
