"""Parser of spreadsheets, by calamine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from vicw_core.text.heading_anchors import slug
from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Part
from vicw_readers.documents.old_office import OLE_MARK
from vicw_readers.documents.packed import office_properties, packed_document, refuse_doctypes
from vicw_readers.documents.rows import row_sections
from vicw_readers.records import UnreadableFileError


def parse(path: Path, limits: Limits) -> Iterator[Part]:
    """Yield the rows of the sheets that are shown, in groups."""
    import python_calamine

    with path.open("rb") as file:
        is_old = file.read(len(OLE_MARK)) == OLE_MARK
    if not is_old:
        with packed_document(path, limits) as archive:
            refuse_doctypes(archive)
            yield office_properties(archive)
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(str(path))
    except python_calamine.PasswordError:
        raise UnreadableFileError("is encrypted", fix="Save a copy without password") from None
    names = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.visible == python_calamine.SheetVisibleEnum.Visible
        and sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
    ]
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        trail = (name,) if len(names) > 1 else ()
        yield from row_sections(_rows(sheet.iter_rows()), trail, place=f"{slug(name)}-" if trail else "")


def _rows(rows: Iterator[Sequence[Any]]) -> Iterator[list[str]]:
    for row in rows:
        yield [_shown(cell) for cell in row]


def _shown(cell: Any) -> str:
    """Return a value as people write it: whole numbers without ".0", days without midnight."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "minutes")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return str(cell)
