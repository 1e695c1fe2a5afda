"""A file to read, on disk or in an archive, and the target of its items."""

from __future__ import annotations

import codecs
import gzip
import io
import posixpath
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from pydantic import ValidationError

from vicw_readers.intake.guessed_encoding import guessed_encoding
from vicw_readers.intake.limits import limits
from vicw_readers.intake.text_decoder import SAVE_AS_UTF8, encoding_of, read_text
from vicw_readers.records import Noted, Refused, Skipped, SourceItem, UnreadableFileError, faults_of, shown
from vicw_shared.model import Sensitivity
from vicw_shared.wire.ingest import Item

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from vicw_readers.intake.archive import Archive
    from vicw_readers.port import Reader

GZIP = b"\x1f\x8b"
_HEAD_BYTES = 8192
_ASSUMED = "assumed encodings"
_PART_BYTES = 1024 * 1024


@dataclass(slots=True)
class ImportRun:
    """What the readers know of one import: the ``folders`` that were named, and what they found out for all files."""

    folders: set[Path] = field(default_factory=set)
    known: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user says of all files of an import; None: not said.

    ``context``, ``domain`` and ``flow`` are overridden by values in the data, and override the defaults of the format.
    ``owner`` is the name of the person whose files they are, ``timezone`` that of times without one. ``format`` is
    the name of the reader of all files. ``encoding`` is that of texts
    that are not UTF-8. ``include`` and ``exclude`` are patterns of files of folders and archives. ``run`` is no option:
    what is known of this import.
    """

    context: str | None = None
    domain: str | None = None
    flow: str | None = None
    owner: str | None = None
    sensitivity: Sensitivity | None = None
    timezone: tzinfo = UTC
    format: str | None = None
    encoding: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    run: ImportRun = field(default_factory=ImportRun, compare=False, repr=False)

    def wants(self, name: str) -> bool:
        """Return whether a file of a folder or archive is to be read, by patterns as of ``.gitignore``."""
        return (not self.include or patterns_of(self.include).match_file(name)) and not (
            self.exclude and patterns_of(self.exclude).match_file(name)
        )


@lru_cache(8)
def patterns_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Return what matches names by patterns as of ``.gitignore``. Raises ValueError, re.error."""
    from pathspec import GitIgnoreSpec  # slow to import

    return GitIgnoreSpec.from_lines(patterns)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and the target of its items.

    ``name`` starts the items' ids and must be the same on every run: the path relative to the given folder, or inside
    the archive. ``path`` is on disk; with ``archive``, that of the archive, in which the file is ``member``.
    """

    path: Path
    name: str
    fallback_context: str
    options: ImportOptions = field(default_factory=ImportOptions)
    archive: Archive | None = None
    member: str = ""
    reader: Reader | None = None

    @property
    def shown(self) -> str:
        """The path as printable text, whatever the bytes of its name."""
        return shown(f"{self.path}: {self.member}" if self.archive else self.path)

    @property
    def stem(self) -> str:
        """The last part of the name, without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def base(self) -> str:
        """The last part of the name, in small letters."""
        return PurePosixPath(self.name).name.lower()

    @property
    def size(self) -> int:
        """Bytes, before any unpacking of a .gz."""
        return self.archive.size(self.member) if self.archive else self.path.stat().st_size

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file's bytes; those of a .gz are unpacked. Seeking back is slow where it is packed."""
        with self.archive.open(self.member) if self.archive else self.path.open("rb") as file:
            is_packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            if not is_packed:
                yield file
                return
            try:
                with gzip.open(file) as unpacked:
                    yield cast(BinaryIO, unpacked)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise UnreadableFileError(f"is a broken gzip file: {error}") from error

    def text(self) -> str:
        """Return the whole text, line ends untouched. Raises as `read_text` does."""
        with self.open() as file:
            return read_text(file, self.size, self.options.encoding, self._assume)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a text of any size, each with its end as it is. Raises UnreadableFileError."""
        with self.open() as file:
            encoding = self._encoding(file)
            text = io.TextIOWrapper(cast(Any, file), encoding, newline="")
            number, most = 1, limits().line_bytes  # one line is held in memory
            try:
                while line := text.readline(most + 1):
                    if len(line) > most:
                        raise UnreadableFileError(
                            f"has a line of over {most} characters", number, "Raise VICW_READERS_LINE_MB"
                        )
                    yield line
                    number += 1
            except UnicodeError:  # not every codec raises the error of decoding
                named = "UTF-8" if encoding == "utf-8-sig" else encoding
                raise UnreadableFileError(f"is not valid {named}", number, SAVE_AS_UTF8) from None
            finally:
                text.detach()

    def _encoding(self, file: BinaryIO) -> str:
        """Return the encoding of a text; all of it is looked at, since most are UTF-8.

        What is not is of the encoding that the user names, else of the only one that its beginning can be.
        """
        named = self.options.encoding
        encoding = encoding_of(file.read(_HEAD_BYTES), named)
        file.seek(0)
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            while part := file.read(_PART_BYTES):
                decoder.decode(part)
        except UnicodeDecodeError:
            file.seek(0)
            guessed = None if named else guessed_encoding(file.read(limits().text_bytes))
            if guessed is not None:
                self._assume(guessed[1])
            encoding = named or (guessed[0] if guessed else encoding)
        else:
            if encoding in {"utf-16-le", "utf-16-be"} and encoding != named:
                self._assume(encoding)
        file.seek(0)
        return encoding

    def _assume(self, encoding: str) -> None:
        self.options.run.known.setdefault(_ASSUMED, {})[self.shown] = encoding

    def assumed(self) -> Iterator[Noted]:
        """Yield what was assumed of the encoding while the file was read."""
        encoding = self.options.run.known.get(_ASSUMED, {}).pop(self.shown, None)
        if encoding is not None:
            yield self.note(f"is read as {encoding}, which it does not say: --encoding names another one")

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give a path of the bytes, for what needs one: the file itself, or a copy that is gone afterwards."""
        with self.open() as file:
            is_packed = isinstance(file, gzip.GzipFile)
        if self.archive is None and not is_packed:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="vicw-") as folder:
            copy = Path(folder) / f"file{PurePosixPath(self.name).suffix}"
            left = limits().copy_bytes  # not as much as it says, or may expand to: the disk is other programs', too
            with self.open() as file, copy.open("wb") as target:
                while part := file.read(_PART_BYTES):
                    if (left := left - len(part)) < 0:
                        raise UnreadableFileError(
                            f"expands to over {limits().copy_bytes} bytes", fix="Raise VICW_READERS_COPY_MB"
                        )
                    target.write(part)
            yield copy

    def beside(self, name: str) -> SourceFile | None:
        """Return another file of the same folder or archive by its path from this one's folder, if there is one."""
        inner = self.member if self.archive else self.name
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(inner), name))
        if wanted.startswith(("../", "/")):
            return None
        if self.archive is not None:
            there = wanted in self.archive
            return replace(self, name=self._sibling(wanted, inner), member=wanted) if there else None
        path = self.path.parents[inner.count("/")] / wanted
        return replace(self, path=path, name=wanted) if path.is_file() and not path.is_symlink() else None

    def _sibling(self, wanted: str, inner: str) -> str:
        return self.name.removesuffix(inner) + wanted

    def refuse(self, reason: str, line: int | None = None, *, fix: str = "") -> Refused:
        """Return a refusal of a part of this file."""
        return Refused(self.shown, line, reason, fix, self.reader.title if self.reader else "")

    def skip(self, reason: str) -> Skipped:
        """Return the record of a file whose content is nothing to store, which is normal."""
        return Skipped(self.shown, reason, self.reader.title if self.reader else "")

    def note(self, reason: str, line: int | None = None) -> Noted:
        """Return what was assumed, or left out, while a part of this file was read."""
        return Noted(self.shown, line, reason, self.reader.title if self.reader else "")

    def item(
        self,
        fields: dict[str, Any],
        *,
        line: int | None = None,
        said_context: str | None = None,
        said_domain: str | None = None,
        usual_context: str | None = None,
        usual_domain: str | None = None,
    ) -> SourceItem | Refused:
        """Return the item of ``fields``, or a refusal if they are invalid.

        ``said_…`` are values in the data, ``usual_…`` the defaults of the format.
        """
        options = self.options
        try:
            item = Item.model_validate({"flow_id": options.flow, **self._sensitivity(fields)})
        except ValidationError as error:
            return self.refuse(faults_of(error), line)
        return SourceItem(
            context=said_context or options.context or usual_context or self.fallback_context,
            domain=said_domain or options.domain or usual_domain,
            item=item,
            path=self.shown,
            line=line,
            reader=self.reader.name if self.reader else "",
        )

    def _sensitivity(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with who may see them: as the user says, else as the data does, else as the format is."""
        said = self.options.sensitivity
        if said is None and self.reader is not None and self.reader.is_personal and "sensitivity" not in fields:
            said = Sensitivity.PERSONAL
        if said is None:
            return fields
        is_private = said is not Sensitivity.PUBLIC and self.options.owner
        about = {"about": (self.options.owner,)} if is_private and not fields.get("about") else {}
        return {**fields, "sensitivity": said, **about}
