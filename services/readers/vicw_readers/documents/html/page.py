"""Parser of pages of HTML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vicw_readers.documents.blocks import sections_of
from vicw_readers.documents.html.text import decode_page, read_page
from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Part
from vicw_readers.records import NothingToReadError, UnreadableFileError


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield the sections of a page."""
    most = limits.text_mb * 2**20
    if path.stat().st_size > most:
        raise UnreadableFileError(f"is larger than {limits.text_mb} MB", fix="Raise VICW_DOCUMENTS_TEXT_MB")
    page = read_page(decode_page(path.read_bytes()))
    if not page.blocks:
        raise NothingToReadError("has no text for people: a page that a script fills, or a template")
    yield page.properties
    yield from sections_of(page.blocks)
