"""Rows of tables as sections: as many as fit a passage, each group under the header again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vicw_readers.documents.model import DocumentSection

GROUP_CHARS = 1100
"""Less than a passage has, so that no group is cut away from its header."""
_HEADER_SHARE = 0.5
"""A longer header is not repeated: it would be most of the text."""


def row_sections(
    rows: Iterable[Sequence[str]], trail: tuple[str, ...] = (), *, place: str = ""
) -> Iterator[DocumentSection]:
    """Yield groups of rows, cells parted by " | "; the first row is the header if it has words and no numbers.

    Anchors are ``rows-FIRST``, after ``place``; rows count from 1 and the header is the first. The last row is in no
    anchor: it is another one whenever the table has grown.
    """
    header = ""
    group: list[str] = []
    size = first = last = 0
    for number, cells in enumerate(rows, 1):
        line = " | ".join(" ".join(cell.split()) for cell in cells).rstrip(" |")
        if not line:
            continue
        if not header and not group and is_header(cells):
            header = line
            continue
        if group and size + len(line) > GROUP_CHARS:
            yield _section(header, group, trail, place, first, last)
            group, size = [], 0
        if not group:
            first = number
            size = len(header)
        group.append(line)
        size += len(line) + 1
        last = number
    if group or header:
        yield _section(header, group, trail, place, first or 1, last or 1)


def is_header(cells: Sequence[str]) -> bool:
    """Return whether a row names columns: words in most of its cells, numbers in none."""
    filled = [cell for cell in cells if cell.strip()]
    return len(filled) * 2 > len(cells) and all(any(map(str.isalpha, cell)) and len(cell) <= 80 for cell in filled)


def _section(
    header: str, group: list[str], trail: tuple[str, ...], place: str, first: int, last: int
) -> DocumentSection:
    shown = [header] if header and (not group or len(header) <= GROUP_CHARS * _HEADER_SHARE) else []
    rows = {"row": first} | ({"row_to": last} if last > first else {})
    name = f"Rows {first}-{last}" if last > first else f"Row {first}"
    return DocumentSection("\n".join([*shown, *group]), (*trail, name), f"{place}rows-{first}", rows)
