"""Reader of plain text: a file is one item; a long one is split at blank lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, bounded_id, bounded_name
from vicw_shared.domains import CODING
from vicw_shared.text import lines_of, visible

SECTION_CHARS = 4000
"""About three passages: small enough that a found section is read whole."""

_CODING = {
    *(".css", ".scss", ".less", ".html", ".htm", ".vue", ".svelte", ".sql", ".json", ".yaml", ".yml", ".toml"),
    *(".ini", ".cfg", ".conf", ".xml", ".proto", ".graphql", ".tf", ".gradle", ".cmake", ".mk", ".ps1", ".bat"),
    *(".kt", ".kts", ".scala", ".swift", ".groovy", ".lua", ".m", ".mm"),
    *(".pl", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".dart", ".zig", ".nim", ".f90", ".vb"),
}
_EMPTY_JSON = {"[]", "{}", "[{}]", "null"}
_CODING_NAMES = {"makefile", "dockerfile", "rakefile", "gemfile", "cmakelists.txt"}


class TextReader:
    """Any other text."""

    name = "text"
    title = "text"
    files = ("*.txt", "*.yaml", "*.sql", "Makefile")
    keeps = "text as it is; a long one is cut at blank lines"
    leaves = "JSON without anything in it"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is text at all."""
        return start.text is not None

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the sections of the text."""
        name = PurePosixPath(source.name.lower())
        text = source.text()
        if "".join(text.split()) in _EMPTY_JSON:
            raise NothingToReadError("is JSON without anything in it")
        is_coding = name.suffix in _CODING or name.name in _CODING_NAMES
        return read_plain(source, text, CODING if is_coding else None)


def read_plain(source: SourceFile, text: str, domain: str | None = None) -> Iterator[Record]:
    """Yield the sections of a text; ``domain`` is the default of the file type."""
    parts = sections(text)
    line = 1
    title = PurePosixPath(source.name).name
    for n, part in enumerate(parts, 1):
        yield source.item(
            {
                "id": bounded_id(f"{source.name}#{n}"),
                "text": part,
                "name": bounded_name(title if n == 1 else f"{title} ({n})"),
                "subtype": "document" if len(parts) == 1 else "section",
                "source": bounded_id(source.name),
            },
            line=line,
            usual_domain=domain,
        )
        line += len(lines_of(part))


def sections(text: str, size: int = SECTION_CHARS) -> list[str]:
    """Split ``text`` into pieces of about ``size`` characters at most; the joined pieces are the text.

    Splits are after blank lines; within a longer block, after a line. A line is never split. Every piece has visible
    text, if the whole has.
    """
    if len(text) <= size:
        return [text] if text else []
    pieces: list[str] = []
    piece = ""
    for block in _blocks(text, size):
        if piece and len(piece) + len(block) > size and visible(piece) and visible(block):
            pieces.append(piece)
            piece = block
        else:
            piece += block
    return [*pieces, piece]


def _blocks(text: str, size: int) -> Iterator[str]:
    """Yield paragraphs with the blank lines after them; single lines if a paragraph is too long."""
    block: list[str] = []
    for line in lines_of(text):
        if block and not block[-1].strip() and line.strip():
            yield from _fitting(block, size)
            block = []
        block.append(line)
    yield from _fitting(block, size)


def _fitting(block: list[str], size: int) -> Iterator[str]:
    joined = "".join(block)
    if len(joined) <= size:
        yield joined
    else:
        yield from block
