"""Reader of Jupyter notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vicw_readers.documents.headed_text import headed_sections, markdown_headings
from vicw_readers.documents.items import document_items
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.text_decoder import TooLongTextError
from vicw_readers.records import Record, UnreadableFileError

_OUTPUT_CHARS = 1000
"""Of the text that a cell printed: a log is no memory."""


class NotebookReader:
    """Cells of notebooks, under their headings."""

    name = "notebook"
    title = "Jupyter notebook"
    files = ("*.ipynb",)
    keeps = "text and code by headings, the first 1,000 characters of each cell's output"
    leaves = "pictures, other output, numbers of execution"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is JSON with cells, as notebooks are."""
        return any(
            isinstance(one.get("cells"), list) and ("nbformat" in one or start.suffix == ".ipynb")
            for one in start.objects
        ) or (start.suffix == ".ipynb" and start.text is not None)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of a notebook."""
        try:
            notebook = json.loads(_text(source))
            cells = notebook["cells"]
            language = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "")
            text = "\n\n".join(filter(None, (_cell(cell, str(language)) for cell in cells)))
        except (ValueError, RecursionError) as error:
            raise UnreadableFileError(f"is no whole notebook: {error}") from None
        except (KeyError, TypeError, AttributeError):
            fix = "Open it in Jupyter and save it anew"
            raise UnreadableFileError("is no notebook of format 4", fix=fix) from None
        return document_items(source, headed_sections(text, markdown_headings(text)))


def _text(source: SourceFile) -> str:
    try:
        return source.text()
    except TooLongTextError as error:  # of its outputs: nobody writes as much code and text
        raise UnreadableFileError(error.reason, fix="Clear its outputs in Jupyter, and save it") from None


def _cell(cell: dict[str, Any], language: str) -> str:
    text = _joined(cell.get("source", "")).strip("\n")
    if cell.get("cell_type") != "code":
        return text
    if not text.strip():
        return ""
    printed = "\n".join(filter(None, map(_output, cell.get("outputs", ()))))[:_OUTPUT_CHARS].rstrip()
    return f"```{language}\n{text}\n```" + (f"\n\n```text\n{printed}\n```" if printed else "")


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    return _joined(output.get("text") or output.get("data", {}).get("text/plain", "")).strip("\n")


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
