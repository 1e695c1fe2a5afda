"""Reader of PowerPoint slides."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.documents.document_reader import is_office, parsed_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


class SlidesReader:
    """Text of presentations, a slide at a time."""

    name = "pptx"
    title = "PowerPoint slides"
    files = ("*.pptx", "*.pptm", "*.ppsx")
    keeps = (
        "an item for each slide: its title, text, tables, diagrams and notes; its number; "
        "title, author, time of creation"
    )
    leaves = "pictures and drawings (a slide that is nothing else is named), comments, charts"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is packed as a presentation, or called so and cut off."""
        return is_office(start, "ppt/", "presentation", (".pptx", ".pptm", ".ppsx"))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the slides."""
        return parsed_items(source, "pptx")
