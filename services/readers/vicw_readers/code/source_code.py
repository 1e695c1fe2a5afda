"""Reader of source code in a language of which there is a grammar."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_core.code.languages import languages_of_path
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record


class CodeReader:
    """Source code, cut at definitions."""

    name = "code"
    title = "source code"
    files = ("*.py", "*.js", "*.ts", "*.go", "*.rs", "*.java", "*.cs", "*.c", "*.cpp", "*.rb", "*.php", "*.sh")
    keeps = "every line: an item for each definition, and one for the rest of the file"
    leaves = "in a folder, generated and minified files"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is a text with the suffix of a known language."""
        return start.text is not None and bool(start.suffix) and bool(languages_of_path(start.base))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield a file's definitions and its rest; sections of plain text if it cannot be parsed."""
        from vicw_readers.code.definitions import read_code  # grammars are slow to import

        return read_code(source, source.text())
