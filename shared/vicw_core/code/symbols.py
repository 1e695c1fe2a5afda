"""Find definitions, their containers and their doc lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vicw_core.code.model import SymbolKind
from vicw_core.code.parser import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NAME = 200
"""Bytes; a longer name is a parsing error."""
MAX_DOC = 300
"""Maximum characters of a doc line; the rest is cut."""
_MAX_COMMENT = 4 * MAX_DOC
_LINES_ABOVE = 500
_DEFINING = {kind.value: kind for kind in SymbolKind}
_SCOPE = "scope"
_TYPES = {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.TYPE, None}
_JOINTS = re.compile(r"::|\\|->|\.")
_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|[*&\s]")
_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]?|\*+/?|#!?|--+|;+)?[ \t]*|\s*\*+/\s*$")
_TAGS = re.compile(r"</?\w[^<>]*>")


@dataclass(slots=True, eq=False)
class SymbolScope:
    """A byte range that contains definitions: a symbol, or (``kind`` None) a plain scope."""

    start: int
    end: int
    kind: SymbolKind | None
    parts: tuple[str, ...]
    container: SymbolScope | None = None
    prefix: str = ""
    doc: str | None = None
    depth: int = 0
    qualified: str = field(default="", init=False)

    def set_container(self, container: SymbolScope | None) -> None:
        """Set the container (None: the text itself), and the qualified name and kind that follow from it."""
        self.container = container
        self.depth = container.depth + 1 if container else 0
        outer = container.qualified if container else ""
        self.prefix = ".".join(filter(None, (outer, *self.parts[:-1])))
        self.qualified = ".".join(filter(None, (self.prefix, self.parts[-1])))
        in_type = container is not None and container.kind in _TYPES
        if self.kind is SymbolKind.FUNCTION and (in_type or len(self.parts) > 1):
            self.kind = SymbolKind.METHOD


def scopes_of(parsed: Parsed, depth: int) -> list[SymbolScope]:
    """Return the symbols and scopes in the order of the text, with their containers.

    Omits constants inside functions and scopes nested deeper than ``depth``.
    """
    taken = {node.start_byte for match in parsed.matches for node in match.get("as", ()) if "from" in match}
    scopes: list[SymbolScope] = []
    for match in parsed.matches:
        scope = _scope(parsed, match)
        if scope and (at := match["name"][0].start_byte) not in taken:
            taken.add(at)
            scopes.append(scope)
    _include_wrappers(scopes, parsed)
    scopes.sort(key=lambda scope: (scope.start, -scope.end))
    within_depth: list[SymbolScope] = []
    for scope, above in nested(scopes):
        scope.set_container(above)
        hidden = scope.kind is SymbolKind.CONSTANT and above and above.kind in {SymbolKind.FUNCTION, SymbolKind.METHOD}
        if scope.depth <= depth and not hidden:
            within_depth.append(scope)
    _set_docs(within_depth, parsed)
    return within_depth


def nested(scopes: Iterable[SymbolScope]) -> Iterator[tuple[SymbolScope, SymbolScope | None]]:
    """Yield each of the sorted scopes with its innermost enclosing scope."""
    stack: list[SymbolScope] = []
    for scope in scopes:
        while stack and stack[-1].end < scope.end:
            stack.pop()
        yield scope, stack[-1] if stack else None
        stack.append(scope)


def owners(scopes: Sequence[SymbolScope], offsets: Iterable[int]) -> Iterator[SymbolScope | None]:
    """Yield the innermost of the sorted scopes around each byte offset; offsets must ascend."""
    stack: list[SymbolScope] = []
    following = iter(scopes)
    scope = next(following, None)
    for offset in offsets:
        while scope and scope.start <= offset:
            while stack and stack[-1].end < scope.end:
                stack.pop()
            stack.append(scope)
            scope = next(following, None)
        while stack and stack[-1].end <= offset:
            stack.pop()
        yield stack[-1] if stack else None


def name_parts(written: str) -> tuple[str, ...]:
    """Return the parts of a name as written, without type arguments: ``Store<T>::put`` is ``Store`` and ``put``."""
    bare = written
    while (shorter := _ARGUMENTS.sub("", bare)) != bare:
        bare = shorter
    return tuple(part for part in _JOINTS.split(bare.strip("\"'`")) if part)


def _scope(parsed: Parsed, match: dict[str, list[Node]]) -> SymbolScope | None:
    kind = next((name for name in match if name in _DEFINING or name == _SCOPE), None)
    if kind is None or "name" not in match:
        return None
    node, name = match[kind][0], match["name"][0]
    if not 0 < name.end_byte - name.start_byte <= MAX_NAME:
        return None
    parts = name_parts(parsed.name(name)) if not parsed.name(name).startswith("operator") else (parsed.name(name),)
    if "receiver" in match:
        parts = (*name_parts(parsed.name(match["receiver"][0])[:MAX_NAME]), *parts)
    return SymbolScope(node.start_byte, node.end_byte, _DEFINING.get(kind), parts) if parts else None


def _include_wrappers(scopes: Iterable[SymbolScope], parsed: Parsed) -> None:
    """Extend definitions to the start of their wrappers: decorators, ``export``, ``template``.

    A wrapper extends the outermost definition inside it with the same end, ignoring a final semicolon.
    """
    wraps: dict[int, list[int]] = {}
    for match in parsed.matches:
        for node in match.get("wrap", ()):
            end = node.end_byte - (parsed.data[node.end_byte - 1 : node.end_byte] == b";")
            wraps.setdefault(end, []).append(node.start_byte)
    wrapped: dict[int, list[SymbolScope]] = {end: [] for end in wraps}
    for scope in scopes:
        if scope.end in wrapped:
            wrapped[scope.end].append(scope)
    for end, starts in wraps.items():
        ending = sorted(wrapped[end], key=lambda scope: scope.start)
        starts.sort()
        for scope, before in zip(ending, [-1, *(scope.start for scope in ending)], strict=False):
            own = [start for start in starts if before < start <= scope.start]
            scope.start = min(own, default=scope.start)


def _set_docs(scopes: Sequence[SymbolScope], parsed: Parsed) -> None:
    """Set the ``doc`` of each scope from its docstring, else the comment above it."""
    docs = sorted((node.start_byte, node.end_byte) for match in parsed.matches for node in match.get("doc", ()))
    for (start, end), scope in zip(docs, owners(scopes, [start for start, _ in docs]), strict=True):
        if scope:
            scope.doc = scope.doc or first_line(parsed.written(start, min(end, start + _MAX_COMMENT)))
    above = _CommentsAbove(parsed)
    for scope in scopes:
        scope.doc = scope.doc or above.comment(scope.start)


class _CommentsAbove:
    """Find the comment that ends on the line above a definition, with or without attributes in between."""

    def __init__(self, parsed: Parsed) -> None:
        self._data = parsed.data
        self._before = {
            self._stripped(node.end_byte): (node.start_byte, name == "comment")
            for match in parsed.matches
            for name in ("comment", "attribute")
            for node in match.get(name, ())
        }

    def comment(self, start: int) -> str | None:
        """Return the first line of the comment above the definition that starts here."""
        doc = None
        for _ in range(_LINES_ABOVE):
            end = self._stripped(start)
            if end not in self._before or self._data.count(b"\n", end, start) > 1:
                break
            start, is_comment = self._before[end]
            line = self._data.rfind(b"\n", 0, start) + 1
            if self._data[line:start].strip():
                break
            if is_comment:
                doc = first_line(self._data[start : min(end, start + _MAX_COMMENT)].decode("utf-8", "replace")) or doc
        return doc

    def _stripped(self, end: int) -> int:
        near = max(0, end - _MAX_COMMENT)
        return near + len(self._data[near:end].rstrip())


def first_line(comment: str) -> str | None:
    """Return the first line of a docstring or comment that has words, without marks and tags."""
    for line in comment.splitlines():
        words = _TAGS.sub("", _MARKS.sub("", line)).strip()
        if any(ch.isalpha() for ch in words):
            return words[:MAX_DOC]
    return None
