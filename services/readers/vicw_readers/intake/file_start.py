"""What is known of a file before it is read: enough to tell its format, and cheap."""

from __future__ import annotations

import codecs
import gzip
import zipfile
import zlib
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from vicw_readers.intake.archive import BROKEN
from vicw_readers.intake.json_start import objects_at_start
from vicw_readers.intake.source_file import GZIP, SourceFile
from vicw_readers.intake.text_decoder import encoding_of, looks_binary

HEAD_BYTES = 64 * 1024
_SNIFFED_BYTES = 8192
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


class FileStart:
    """The name of a file, its first bytes, and what they mean. Raises OSError and UnreadableFileError when created."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self.name = source.name
        self.base = PurePosixPath(source.name).name.lower()
        self.suffix = PurePosixPath(self.base).suffix
        self.size = source.size
        self._encoding = source.options.encoding
        with source.open() as file:
            self.head, self._goes_on = _first_bytes(file)
        if self.suffix == ".gz" and self.head[:2] != GZIP:  # it comes unpacked
            self.base = self.base.removesuffix(".gz")
            self.suffix = PurePosixPath(self.base).suffix

    @cached_property
    def text(self) -> str | None:
        """The head as text, up to its last whole line if the file goes on; None if it is binary."""
        if looks_binary(self.head[:_SNIFFED_BYTES], self._encoding):
            return None
        text = self._decoded()
        cut = max(text.rfind("\n"), text.rfind("\r")) + 1
        return text[:cut] if self._goes_on and cut else text

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text, without their ends."""
        return tuple(self.text.splitlines()) if self.text is not None else ()

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The first objects of a JSON file, or of JSON Lines, each as far as the head has it."""
        return () if looks_binary(self.head[:_SNIFFED_BYTES], self._encoding) else objects_at_start(self._decoded())

    def _decoded(self) -> str:
        return codecs.getincrementaldecoder(encoding_of(self.head, self._encoding))("replace").decode(self.head)

    @property
    def is_zip(self) -> bool:
        """Whether the first bytes are those of a .zip, whatever its suffix: a .docx is one, too."""
        return self.head.startswith(_ZIP)

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the files in a .zip; empty for any other file, and for a .zip that cannot be read."""
        if not self.is_zip:
            return frozenset()
        try:
            with self._source.open() as file, zipfile.ZipFile(file) as archive:
                return frozenset(archive.namelist())
        except OSError:
            return frozenset()
        except BROKEN:
            return frozenset()

    def has_beside(self, name: str) -> bool:
        """Return whether there is another file, by its path from this one's folder, in the same folder or archive."""
        return self._source.beside(name) is not None


def _first_bytes(file: BinaryIO) -> tuple[bytes, bool]:
    """Return the first bytes, and whether there are more. What is packed and cut off gives what it has."""
    parts: list[bytes] = []
    missing = HEAD_BYTES + 1
    try:
        while missing and (part := cast(Any, file).read1(missing)):
            parts.append(part)
            missing -= len(part)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        missing = 0
    return b"".join(parts)[:HEAD_BYTES], not missing
