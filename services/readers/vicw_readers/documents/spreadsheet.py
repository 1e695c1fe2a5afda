"""Reader of spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.documents.document_reader import is_office, parsed_items
from vicw_readers.documents.old_office import OLE_MARK
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_OLD_SUFFIXES = (".xls", ".xlt")
_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".ods")


class SpreadsheetReader:
    """Rows of workbooks."""

    name = "xlsx"
    title = "spreadsheet"
    files = ("*.xlsx", "*.xlsm", "*.xlsb", "*.xls", "*.ods")
    keeps = "rows in groups of a passage, the header again in each; sheet and numbers of the rows; values of formulas"
    leaves = "formulas, formats, charts, hidden sheets"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is packed as a workbook, or called so: an old one, or one that is cut off."""
        if start.head.startswith(OLE_MARK):
            return start.suffix in _OLD_SUFFIXES  # the container of any old Office file
        is_open_document = start.suffix == ".ods" and "content.xml" in start.members
        return is_open_document or is_office(start, "xl/", "workbook", _SUFFIXES)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the rows of all sheets."""
        return parsed_items(source, "xlsx", needs="python_calamine")
