"""What a reader of a file format must provide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vicw_readers.intake.file_start import FileStart
    from vicw_readers.intake.source_file import SourceFile
    from vicw_readers.records import Record


class Reader(Protocol):
    """A file format: how it is recognised, and what its files say.

    ``name`` is stable, for options and reports; ``title`` is for people. ``files`` are what such files are usually
    called, as patterns. ``keeps`` and ``leaves`` say in a line each what is read and what is not. Items of a reader
    that ``is_personal`` are personal, about their owner, unless the user says otherwise.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def files(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def keeps(self) -> str: ...  # noqa: D102

    @property
    def leaves(self) -> str: ...  # noqa: D102

    @property
    def is_personal(self) -> bool: ...  # noqa: D102

    def recognises(self, start: FileStart) -> bool:
        """Return whether a file is of this format, by its content before its name. Never raises on any bytes."""
        ...

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the items of a file, in order, without holding all of it where the format allows that.

        A part that cannot be read is refused alone. Raises UnreadableFileError if the whole file cannot be read,
        NothingToReadError if it has nothing, OSError.
        """
        ...
