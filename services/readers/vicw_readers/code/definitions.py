"""The definitions of source code: one item each, and one for the rest of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from vicw_core.code import worker_process
from vicw_core.code.code_analysis import DEFAULT_BOUNDS, analyse_in_process
from vicw_core.code.model import CodeAnalysis, Symbol, SymbolKind
from vicw_core.text.heading_anchors import Unique
from vicw_readers.code.outline import Definition, outline
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.plain.text import read_plain
from vicw_readers.records import Record, bounded_id, bounded_name
from vicw_shared.domains import CODING
from vicw_shared.text import lines_of

_IN_PROCESS_CHARS = 100_000
"""Longer texts are parsed in a worker process (the server's limit is 6,000; here files are many)."""
_C = {"c", "cpp"}
_CALLED = {SymbolKind.FUNCTION, SymbolKind.METHOD}


def read_code(source: SourceFile, text: str) -> Iterator[Record]:
    """Yield a file's definitions and its rest; sections of plain text if it cannot be parsed.

    What the grammar does not understand is kept, and the file is named once: the definitions around it are read.
    """
    lines = lines_of(text)
    analysis = analysed(text, source.name)
    if analysis is None:
        yield source.note("cannot be parsed as code: it is read as text")
    elif analysis.wrong:
        first = bisect_right(_starts(lines), analysis.wrong[0].start)
        yield source.note(f"has what the grammar of {analysis.language} does not understand: it stays as text", first)
    definitions = definitions_of(analysis, text, lines) if analysis else []
    if not definitions:
        yield from read_plain(source, text, CODING)
        return
    unique = Unique()
    for part in outline(lines, definitions):
        definition = part.definition
        yield source.item(
            {
                "id": bounded_id(f"{source.name}#{unique(definition.name)}" if definition else source.name),
                "text": part.text,
                "name": bounded_name(definition.name if definition else source.name),
                "subtype": definition.kind if definition else "module",
                "source": bounded_id(source.name),
            },
            line=part.line + 1,
            usual_domain=CODING,
        )


def analysed(text: str, path: str) -> CodeAnalysis | None:
    """Return what a file defines, or None if it cannot be parsed."""
    if len(text) > _IN_PROCESS_CHARS:
        return worker_process.analyse_code(text, path=path)
    return analyse_in_process(text, path, None, DEFAULT_BOUNDS)


def definitions_of(analysis: CodeAnalysis, text: str, lines: Sequence[str]) -> list[Definition]:
    """Return a file's functions and types, outer before inner.

    Definitions inside a function, or indented in a block without a name (an ``if``), stay in the outer text. A
    namespace is not a definition; a type keeps its members, except in Python. C declarations are not definitions.
    """
    starts = _starts(lines)
    definitions: list[Definition] = []
    for symbol, name in _defined(analysis, text):
        first, last = (bisect_right(starts, at) - 1 for at in (symbol.span.start, symbol.span.end - 1))
        if symbol.container is not None or not lines[first][:1].isspace():
            definitions.append(Definition(name, symbol.kind.value, first, last))
    return definitions


def _starts(lines: Sequence[str]) -> list[int]:
    return [0, *accumulate(map(len, lines))]


def _defined(reading: CodeAnalysis, text: str) -> Iterator[tuple[Symbol, str]]:
    """Yield the symbols that become items, each with its name relative to its namespace."""
    closed, namespaces = 0, list[Symbol]()
    for symbol in reading.symbols:
        namespaces = [outer for outer in namespaces if symbol.span.start < outer.span.end]
        if symbol.kind is SymbolKind.MODULE:
            namespaces.append(symbol)
        elif symbol.kind is not SymbolKind.CONSTANT and symbol.span.start >= closed:
            written = text[symbol.span.start : symbol.span.end]
            if reading.language in _C and ("{" not in written or written.startswith("#")):
                continue
            if symbol.kind in _CALLED or reading.language != "python":
                closed = symbol.span.end
            name = symbol.qualified.removeprefix(f"{namespaces[-1].qualified}." if namespaces else "")
            yield symbol, name.replace(".", "::") if reading.language == "cpp" else name
