"""Reader of Word documents."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.documents.document_reader import is_office, parsed_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


class WordReader:
    """Text of Word documents, by their headings."""

    name = "docx"
    title = "Word document"
    files = ("*.docx", "*.docm", "*.dotx")
    keeps = (
        "text by headings, lists, tables by rows, text boxes, footnotes, comments, formulas in a line; "
        "page headers and footers once, at the end; title, author, time of creation"
    )
    leaves = "pictures (their descriptions stay), deleted text"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is packed as a Word document, or called so and cut off."""
        return is_office(start, "word/", "document", (".docx", ".docm", ".dotx"))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a document."""
        return parsed_items(source, "docx", needs="mammoth")
