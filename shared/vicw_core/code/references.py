"""Find imports, calls and base types in code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vicw_core.code.model import Base, Call, ImportedModule, SymbolKind
from vicw_core.code.parser import Parsed
from vicw_core.code.symbols import SymbolScope, name_parts, owners

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMELESS = frozenset("c cpp bash ruby javascript typescript tsx".split())
"""Languages in which importing a whole module binds no name."""
_MAX_WRITTEN = 300
"""Maximum bytes of a callee, counted from its end: in a chain, each call contains those before it."""
_JOINT = r"\s*(?:\?\.|!\.|\.|::|->|\?->|\\)\s*"
_PLAIN = re.compile(rf"[~\w$@#!?]+(?:{_JOINT}[~\w$@#!?]+)*$")
_SPLIT = re.compile(_JOINT)
_TYPE_ARGUMENTS = re.compile(r"(?:::)?<[^<>()]*>")
_SELF = frozenset("self this cls $this @this Self static".split())
_CALLABLE = {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.TYPE, SymbolKind.INTERFACE}
_IN_USE_TREE = re.compile(r"[{},]|[^{},]+")
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class _Module:
    """An import, built up from several matches."""

    module: str
    start: int
    end: int
    relative: bool
    names: dict[str, str] = field(default_factory=dict)


def imports_of(parsed: Parsed, path: str | None) -> Iterator[ImportedModule]:
    """Yield the imports in the order of the text; relative ones are resolved against ``path``, the text's own."""
    spans = parsed.spans()
    modules = sorted(_modules(parsed), key=lambda module: module.start)
    for module in modules:
        resolved = _resolved(module, parsed.language.name, path)
        names = module.names or _own_names(module.module, parsed.language.name)
        yield ImportedModule(module.module, names, resolved, spans(module.start, module.end))


def _modules(parsed: Parsed) -> Iterator[_Module]:
    by_start: dict[int, _Module] = {}
    for match in parsed.matches:
        if "use" in match:
            yield from _use_tree(parsed, match["use"][0])
            continue
        node = next((match[name][0] for name in ("from", "near") if name in match), None)
        if node is None or node.end_byte - node.start_byte > _MAX_WRITTEN:
            continue
        written = parsed.name(node).strip("\"'`<>")
        if "prefix" in match:
            written = f"{parsed.name(match['prefix'][0])}\\{written}"
        module = by_start.setdefault(node.start_byte, _Module(written, node.start_byte, node.end_byte, "near" in match))
        imported = parsed.name(match["imported"][0]) if "imported" in match else ""
        local_name = parsed.name(match["as"][0]) if "as" in match else imported
        if local_name and local_name not in {".", "_"}:
            module.names[local_name] = imported
    yield from by_start.values()


def _use_tree(parsed: Parsed, node: Node) -> Iterator[_Module]:
    """Yield the modules of a Rust ``use``: ``a::{b, c::{d as e, *}}`` imports from ``a`` and ``a::c``."""
    stack = [""]
    modules: dict[str, _Module] = {}
    for token in _IN_USE_TREE.findall(parsed.written(node.start_byte, min(node.end_byte, node.start_byte + 5000))):
        text = " ".join(token.split())
        if text == "{":
            continue
        if text == "}":
            stack = stack[:-1] or [""]
        elif text.endswith("::"):
            stack.append(stack[-1] + text)
        elif text not in {",", ""}:
            path, _, local_name = (stack[-1] + text).partition(" as ")
            module, _, name = path.rpartition("::")
            if name == "self":
                module, _, name = module.rpartition("::")
            imported = modules.setdefault(
                module, _Module(module or name, node.start_byte, node.end_byte, relative=False)
            )
            if name != "*":
                imported.names[local_name or name] = name if module else ""
    yield from modules.values()


def _own_names(module: str, language: str) -> dict[str, str]:
    """Return the local name of a module imported without alias: its whole name in Python, else the last part."""
    if language == "python":
        return {} if module.startswith(".") else {module: ""}
    if language in _NAMELESS or ("/" in module and language != "go"):
        return {}
    last = re.split(r"[./\\]|::", module)[-1]
    return {last: ""} if last else {}


def _resolved(module: _Module, language: str, path: str | None) -> str | None:
    if path is None:
        return None
    folder = posixpath.dirname(path.replace("\\", "/"))
    written = module.module
    if language == "python":
        dots = len(written) - len(written.lstrip("."))
        if not dots:
            return None
        written = "../" * (dots - 1) + written[dots:].replace(".", "/")
    elif language == "rust" and posixpath.basename(path) not in {"mod.rs", "lib.rs", "main.rs"}:
        folder = posixpath.splitext(path)[0]
    if not (language == "python" or module.relative or written.startswith(("./", "../"))) or "$" in written:
        return None
    joined = posixpath.normpath(posixpath.join(folder, written.lstrip("/") if language == "php" else written))
    return None if joined.startswith(("..", "/")) != folder.startswith(("..", "/")) or joined == "." else joined


class Resolver:
    """Resolve names to symbols of the text or to imported modules."""

    def __init__(self, scopes: Sequence[SymbolScope], imports: Sequence[ImportedModule], *, own_members: bool) -> None:
        self._known = {scope.qualified for scope in scopes if scope.kind in _CALLABLE}
        self._own_members = own_members
        self._imports: dict[str, str] = {}
        for one in imports:
            self._imports.update(dict.fromkeys(map(_dotted, one.names), one.module))

    def resolve(self, written: str, inside: SymbolScope | None) -> tuple[str | None, str | None]:
        """Return the symbol that ``written`` refers to, by qualified name, else its module; None if uncertain."""
        parts = [part for part in _SPLIT.split(written) if part]
        if not parts or written.startswith("."):
            return None, None
        if parts[0] in _SELF:
            home = _type_around(inside)
            target = ".".join([home, *parts[1:]]) if home else ""
            return (target if target in self._known else None), None
        name = ".".join(parts)
        enclosing = inside
        while enclosing:
            prefix = enclosing.prefix if enclosing.kind is SymbolKind.METHOD else enclosing.qualified
            is_type = enclosing.kind not in {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MODULE}
            if (self._own_members or not is_type or len(parts) > 1) and f"{prefix}.{name}" in self._known:
                return f"{prefix}.{name}", None
            enclosing = enclosing.container
        if name in self._known:
            return name, None
        for end in range(len(parts), 0, -1):
            if (module := self._imports.get(".".join(parts[:end]))) is not None:
                return None, module
        return None, None


def calls_of(parsed: Parsed, scopes: Sequence[SymbolScope], resolver: Resolver) -> Iterator[Call]:
    """Yield each call once for its caller and callee, in the order of the text."""
    spans = parsed.spans()
    callees = {
        (match["call"][0].start_byte, match.get("end", match["call"])[0].end_byte)
        for match in parsed.matches
        if "call" in match
    }
    bare = {node.byte_range for match in parsed.matches for node in match.get("bare", ())} - callees
    ranges = sorted(callees | bare)
    variables = _bound_names(parsed, scopes) if bare else set()
    seen = set()
    for (start, end), scope in zip(ranges, owners(scopes, [start for start, _ in ranges]), strict=True):
        callee = written_name(parsed.written(max(start, end - _MAX_WRITTEN), end))
        caller = _symbol_around(scope)
        if (start, end) in bare and ((scope, callee) in variables or not resolver.resolve(callee or "", scope)[0]):
            continue  # a bare name is a call only if it resolves to a symbol and is no variable
        if callee and (caller, callee) not in seen:
            seen.add((caller, callee))
            target, module = resolver.resolve(callee, scope)
            yield Call(caller, callee, target, module, spans(start, end))


def _bound_names(parsed: Parsed, scopes: Sequence[SymbolScope]) -> set[tuple[SymbolScope | None, str]]:
    """Return the names of variables by the scope that binds them; names in defaults count, too."""
    nodes = [node for match in parsed.matches for node in match.get("bound", ())]
    nodes.sort(key=lambda node: node.start_byte)
    within = owners(scopes, [node.start_byte for node in nodes])
    return {
        (scope, name)
        for node, scope in zip(nodes, within, strict=True)
        for name in _WORD.findall(parsed.written(node.start_byte, node.end_byte))
    }


def bases_of(parsed: Parsed, scopes: Sequence[SymbolScope], resolver: Resolver) -> Iterator[Base]:
    """Yield each base of a type once, in the order of the text."""
    ranges = sorted((node.start_byte, node.end_byte) for match in parsed.matches for node in match.get("base", ()))
    seen = set()
    for (start, end), scope in zip(ranges, owners(scopes, [start for start, _ in ranges]), strict=True):
        name = written_name(parsed.written(start, min(end, start + _MAX_WRITTEN)))
        if scope and name and not name.startswith(".") and (scope.qualified, name) not in seen:
            seen.add((scope.qualified, name))
            target, module = resolver.resolve(name, scope.container)
            yield Base(scope.qualified, name, target if target != scope.qualified else None, module)


def written_name(written: str) -> str | None:
    """Return a callee or base without type arguments and white space; ``.last`` if the part before is no name."""
    bare = written.strip().lstrip("*&(")
    while (shorter := _TYPE_ARGUMENTS.sub("", bare)) != bare:
        bare = shorter
    bare = re.sub(r"\[[^\[\]]*\]$", "", bare).rstrip(" )")
    match = _PLAIN.search(bare)
    if match is None or not any(ch.isalpha() or ch == "_" for ch in match[0]):
        return None
    name = "".join(match[0].split())
    whole = match.start() == 0 and len(written) < _MAX_WRITTEN
    return name if whole else f".{_SPLIT.split(name)[-1]}"


def _symbol_around(scope: SymbolScope | None) -> str | None:
    while scope and scope.kind is None:
        scope = scope.container
    return scope.qualified if scope else None


def _dotted(name: str) -> str:
    return ".".join(name_parts(name))


def _type_around(scope: SymbolScope | None) -> str | None:
    """Return the qualified name of the class that ``self`` refers to here."""
    while scope:
        if scope.kind is SymbolKind.METHOD:
            return scope.prefix
        if scope.kind not in {SymbolKind.FUNCTION, SymbolKind.MODULE, SymbolKind.CONSTANT}:
            return scope.qualified
        scope = scope.container
    return None
