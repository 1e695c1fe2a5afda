"""From paths to records: walks folders, opens archives, and asks the registry for each file's reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from vicw_readers.intake.archive import Archive
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.kinds import OTHER, FileKind, kind_of
from vicw_readers.intake.machine_made import is_generated, machine_made
from vicw_readers.intake.source_file import ImportOptions, ImportRun, SourceFile
from vicw_readers.port import Reader
from vicw_readers.records import NothingToReadError, Record, Refused, Skipped, UnreadableFileError, shown
from vicw_readers.registry import reader_named, reader_of

_OF_PROGRAMS = {"code", "text"}
"""Readers whose files a program may have made: what others read is known by its content."""
_PROSE = {"", ".txt", ".text", ".log"}
PACKAGE = "is a package of a program: in a folder only a .zip is opened"
_REASON_CHARS = 500
_NESTED = "Unpack it, and name what is inside"


def read_paths(paths: Sequence[Path], options: ImportOptions | None = None) -> Iterator[Record]:
    """Yield all records of files and folders, one path after the other.

    Without a context in the options it is the one in the data, else the default of the format, else the name of the
    folder, or of the file without its suffixes. Ids start with the path relative to the given folder, so the same
    command gives the same ids.
    """
    options = replace(options or ImportOptions(), run=ImportRun())
    for path in paths:
        resolved = path.resolve()
        if resolved.is_dir():
            yield from _folder(resolved, options)
        else:
            stem = resolved.name.removeprefix(".").split(".")[0]
            yield from _file(SourceFile(path, resolved.name, _visible(stem), options))


def _folder(root: Path, options: ImportOptions) -> Iterator[Record]:
    from vicw_readers.intake.walk import walk

    options.run.folders.add(root)
    for entry in walk(root):
        if not isinstance(entry, Path):
            yield entry
        elif not options.wants(entry.relative_to(root).as_posix()):
            continue
        elif is_generated(entry.name):
            yield Skipped(shown(entry), "is a generated file")
        else:
            name = entry.relative_to(root).as_posix()
            yield from _file(SourceFile(entry, name, _visible(root.name), options), in_folder=True)


def _visible(name: str) -> str:
    """Return the context of a folder or file by its name: blanks are none."""
    return name if name.strip() else "files"


def _file(source: SourceFile, *, in_folder: bool = False) -> Iterator[Record]:
    """Yield the records of a file; ``in_folder`` says that it was not named by the user."""
    known = source
    try:
        if source.archive is None and source.path.exists() and not source.path.is_file():
            raise UnreadableFileError("is neither a file nor a folder")  # reading a pipe could wait for ever
        start = FileStart(source)
        if start.suffix == ".zip" and not start.is_zip:
            raise UnreadableFileError("is a .zip that cannot be read: it does not begin as one")
        reader = _reader(source, start)
        if reader is not None:
            known = replace(source, reader=reader)
            if in_folder and (reason := made_by_program(reader, start)):
                raise NothingToReadError(reason)
            yield from _some(reader.read(known))
            yield from known.assumed()
        elif (kind := kind_of(start)) is not None:
            yield record_of_kind(source, kind, in_folder)
        elif in_folder and start.suffix != ".zip":  # a .zip: any other file is text, or of a kind
            yield Skipped(source.shown, PACKAGE)
        else:
            yield from _some(_archive(source, in_folder))
    except NothingToReadError as error:
        # Empty and binary files are normal in a folder; given by name they are a mistake.
        yield known.skip(error.reason) if in_folder else known.refuse(error.reason, fix=error.fix)
    except UnreadableFileError as error:
        yield known.refuse(error.reason, error.line, fix=error.fix)
    except OSError as error:
        yield known.refuse(f"cannot be read: {error.strerror or error}")
    except Exception as error:  # of whatever a reader did not expect of a file; the others are still to be read
        yield known.refuse(unexpected(error))


def unexpected(error: Exception) -> str:
    """Return the reason of a file that a reader failed on with an error of no known kind."""
    return f"cannot be read: {type(error).__name__}: {error}"[:_REASON_CHARS]


def made_by_program(reader: Reader, start: FileStart) -> str | None:
    """Return why a text of a folder is passed over, or None; prose that only speaks of such files is none."""
    if reader.name not in _OF_PROGRAMS or start.suffix in _PROSE:
        return None
    return "is a generated file" if is_generated(start.name) else machine_made(start)


def _reader(source: SourceFile, start: FileStart) -> Reader | None:
    """Return the reader of a file, or None. One that the user names is for what is in a plain archive, not for it."""
    named = source.options.format
    if named is None or (start.is_zip and reader_of(start) is None and kind_of(start) is None):
        return reader_of(start)
    return reader_named(named)


def _some(records: Iterator[Record]) -> Iterator[Record]:
    """Yield the records of a file. Raises NothingToReadError if there are none: no file goes without a word."""
    record = next(records, None)
    if record is None:
        raise NothingToReadError("has nothing that is read")
    yield record
    yield from records


def record_of_kind(source: SourceFile, kind: FileKind, in_folder: bool) -> Refused | Skipped:
    """Return the record of a file of a kind that is not read. Pictures are normal in a folder, documents are missed."""
    reason = f"is a {kind.title}, which is not read" if kind is not OTHER else "is binary"
    if in_folder and not kind.has_words:
        return Skipped(source.shown, reason, kind.title)
    return Refused(source.shown, None, reason, kind.fix, kind.title)


def _is_for_people(name: str) -> bool:
    """Return whether a member is no hidden file, and nothing that an archiver or a tool put beside the files."""
    return not any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _archive(source: SourceFile, in_folder: bool) -> Iterator[Record]:
    """Yield the records of the files in an archive, each by its own reader."""
    if source.archive is not None:
        raise UnreadableFileError("is an archive in an archive", fix=_NESTED)
    with source.open() as file, Archive.opened(file) as archive:
        for name in archive.unsafe:
            yield source.refuse(f"holds a file whose name leads out of it: {shown(name)}")
        if not archive.names and not archive.unsafe:
            raise NothingToReadError("is a .zip without files")
        prefix = f"{source.name}/" if in_folder else ""
        for name in archive.names:
            if not _is_for_people(name) or not source.options.wants(name):
                continue
            inner = replace(source, name=f"{prefix}{name}", archive=archive, member=name)
            yield from _file(inner, in_folder=True)
