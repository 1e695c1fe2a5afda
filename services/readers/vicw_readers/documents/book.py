"""Reader of EPUB books."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.documents.document_reader import parsed_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


class BookReader:
    """Chapters of books."""

    name = "epub"
    title = "EPUB book"
    files = ("*.epub",)
    keeps = "the chapters in their order, by headings; title, author, language, time of publication"
    leaves = "pictures (their descriptions stay), the table of contents"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is packed as a book, or called one and cut off."""
        if start.is_zip and not start.members:
            return start.suffix == ".epub"
        return "META-INF/container.xml" in start.members

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a book."""
        return parsed_items(source, "epub")
