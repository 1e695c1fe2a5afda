"""Reader of HTML pages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from vicw_readers.documents.document_reader import parsed_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_START = re.compile(
    # Possessive: what is no page must not be tried in all ways to part its comments.
    rb"\s*+(?:<\?xml[^>]*>\s*+)?(?:<!--(?:(?!-->).){0,4000}-->\s*+)*+<(?:!doctype\s+html|html)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_SUFFIXES = {".html", ".htm", ".xhtml"}
_PLAIN = {*_SUFFIXES, "", ".txt"}


class WebPageReader:
    """Readable text of pages."""

    name = "html"
    title = "HTML page"
    files = ("*.html", "*.htm", "*.xhtml")
    keeps = "the readable text by headings, lists, tables by rows; title, author, time of publication"
    leaves = "navigation, page headers and footers, forms, scripts, styles, addresses of links"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it begins as a page, or is called one and has tags."""
        head = start.head.removeprefix(codecs.BOM_UTF8)
        begins = start.suffix in _PLAIN and _START.match(head) is not None  # a template of PHP or Vue is code
        return begins or (start.suffix in _SUFFIXES and start.text is not None and "<" in start.text)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a page."""
        return parsed_items(source, "html")
