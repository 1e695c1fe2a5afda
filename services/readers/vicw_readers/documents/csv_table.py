"""Reader of CSV: rows in groups, the header again in each."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from vicw_readers.documents.items import document_items
from vicw_readers.documents.rows import row_sections
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_SUFFIXES = {".csv", ".tsv"}
_DELIMITERS = ",;\t|"
_SAMPLED_LINES = 20


class CsvReader:
    """Rows of tables in text."""

    name = "csv"
    title = "CSV table"
    files = ("*.csv", "*.tsv")
    keeps = "rows in groups of a passage, the header again in each; numbers of the rows"
    leaves = "nothing"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is a text that is called a table."""
        return start.suffix in _SUFFIXES and start.text is not None

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the rows of a table of any size."""
        return document_items(source, row_sections(_rows(source)))


def _rows(source: SourceFile) -> Iterator[list[str]]:
    csv.field_size_limit(limits().line_bytes)  # 128 KiB unless said: less than a page in a cell may have
    line = 0
    try:
        rows = csv.reader(source.lines(), delimiter=_delimiter(source))
        for row in rows:
            line = rows.line_num
            yield row
    except csv.Error as error:
        raise UnreadableFileError(f"is no table: {error}", line + 1) from None


def _delimiter(source: SourceFile) -> str:
    """Return the character that parts the first lines into the same number of cells, the most if several do."""
    with_lines = source.lines()
    sample = [line for _, line in zip(range(_SAMPLED_LINES), with_lines, strict=False) if line.strip()]

    def fit(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter)]
        return len(set(widths)) == 1, min(widths, default=0)

    return max(_DELIMITERS, key=fit)
