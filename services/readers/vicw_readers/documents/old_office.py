"""Reader of the container of old Office files, which encrypted new ones use, too: it says what to do with them."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_NEW_SUFFIXES = (".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".xlsb")
_DIRECTORY_BYTES = 16 * 2**20


class OldOfficeReader:
    """Files that are told apart, and refused with the way out."""

    name = "old-office"
    title = "encrypted or old Office file"
    files = ("*.doc", "*.ppt", "*.msg")
    keeps = "nothing: it is refused with what to save it as"
    leaves = "everything"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it begins as an OLE container."""
        return start.head.startswith(OLE_MARK)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Raise UnreadableFileError."""
        with source.open() as file:
            is_encrypted = source.base.endswith(_NEW_SUFFIXES) or _ENCRYPTED in file.read(_DIRECTORY_BYTES)
        if is_encrypted:
            fix = "Open it in its program and save a copy without password"
            raise UnreadableFileError("is encrypted and needs a password", fix=fix)
        fix = (
            "Save it as .docx, .pptx, .xlsx or .eml in its program, or convert it with `soffice --convert-to docx`, say"
        )
        raise UnreadableFileError("is in a format of Office before 2007", fix=fix)
