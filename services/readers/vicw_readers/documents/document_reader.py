"""What the readers of documents share: a parser in a process of its own, and the extra that it may need."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from vicw_readers.documents.items import document_items
from vicw_readers.documents.process import parse
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

INSTALL = "pip install 'vicw[documents]'"
INSTALL_HERE = "scripts/setup --no-dev --inexact --extra documents"
CHECKOUT = Path(__file__).parents[4]
"""The checkout that this file is in, if it is in one."""


def parsed_items(source: SourceFile, kind: str, *, needs: str = "") -> Iterator[Record]:
    """Yield the items of a document, parsed by the parser ``kind``; ``needs`` is the module that the extra brings."""
    if needs and find_spec(needs) is None:
        raise UnreadableFileError("needs the extra `documents` to be read", fix=_way_to_install(CHECKOUT))
    with source.on_disk() as path:
        yield from document_items(source, parse(kind, path))


def _way_to_install(root: Path) -> str:
    """Return how to get the extra: a checkout gets it from its own lock file."""
    return f"{INSTALL}; in this checkout {INSTALL_HERE}" if (root / "scripts" / "setup").is_file() else INSTALL


def is_office(start: FileStart, folder: str, part: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file is packed as Office packs it, the main part in ``folder``; a broken one by its suffix."""
    if start.is_zip and not start.members:
        return start.suffix in suffixes
    return any(name.startswith(folder + part) and name.endswith((".xml", ".bin")) for name in start.members)
