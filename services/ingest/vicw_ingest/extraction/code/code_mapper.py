"""Map analysed code to a TextExtraction: files contain symbols; symbols depend on each other and on modules."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_core.code.model import Base, Call, CodeAnalysis, Symbol
from vicw_shared.model import Label
from vicw_shared.model.extraction import ITEM, ExtractedEntity, ExtractedRelation, TextExtraction
from vicw_shared.text import Span

_RULE = "rules:code"


def map_code(
    code: CodeAnalysis, key: str, offset: int, name: str | None = None, *, whole: bool = False
) -> TextExtraction:
    """Return the extraction of a piece of code.

    Keys begin with ``key``; spans are shifted by ``offset``. ``name`` is the name of its item: if it is ``Store.put``
    and the code defines ``put`` first, all symbols belong to ``Store``. ``whole``: the code is the whole item, which
    then represents the file if no path is known.
    """
    return _CodeMapper(code, key, offset, name, whole=whole).extraction()


class _CodeMapper:
    def __init__(self, code: CodeAnalysis, key: str, offset: int, name: str | None, *, whole: bool) -> None:
        self._code = code
        self._key_prefix = key
        self._offset = offset
        self._prefix = _prefix(code, name)
        own = whole and name not in {symbol.qualified for symbol in code.symbols} and not self._prefix
        self._item = ITEM if own else None  # an item named like its own symbol is no file
        self._modules = {use.module: use.resolved or use.module for use in code.imports}
        self._entities: dict[str, ExtractedEntity] = {}

    def extraction(self) -> TextExtraction:
        """Return the extraction."""
        for symbol in self._code.symbols:
            self._add_symbol(symbol)
        relations = dict.fromkeys([*self._contains(), *self._imports(), *self._calls(), *self._inherits()])
        return TextExtraction(entities=list(self._entities.values()), relations=list(relations))

    def _add(
        self,
        slot: str,
        name: str,
        kind: str,
        span: Span,
        *,
        scope: str | None = None,
        description: str | None = None,
        only_known: bool = False,
    ) -> str:
        key = self._key(slot)
        where = Span(span.start + self._offset, span.end + self._offset)
        proven = description is not None or scope is not None
        self._entities.setdefault(
            key, ExtractedEntity(key, name, Label.ENTITY, kind, kind, where, scope, description, only_known, proven)
        )
        return key

    def _key(self, slot: str) -> str:
        return f"{self._key_prefix} {slot}"

    def _add_symbol(self, symbol: Symbol) -> str:
        name = self._prefix + symbol.qualified
        return self._add(
            f"symbol {symbol.qualified}",
            name,
            symbol.kind.value,
            symbol.span,
            scope=self._code.path,
            description=symbol.doc,
        )

    def _symbol_key(self, qualified: str) -> str | None:
        key = self._key(f"symbol {qualified}")
        return key if key in self._entities else None

    def _file(self) -> str | None:
        path = self._code.path
        return self._add("file", path, "file", Span(0, 0)) if path is not None else self._item

    def _contains(self) -> Iterator[ExtractedRelation]:
        for symbol in self._code.symbols:
            container = self._symbol_key(symbol.container) if symbol.container is not None else self._file()
            target = self._symbol_key(symbol.qualified)
            if container is not None and target is not None:
                yield ExtractedRelation(container, "CONTAINS", target, _RULE)

    def _imports(self) -> Iterator[ExtractedRelation]:
        for use in self._code.imports:
            kind = "file" if use.resolved is not None else "module"
            name = self._modules[use.module]
            target = self._add(f"module {name}", name, kind, use.span)
            file = self._file()
            if file is not None:
                yield ExtractedRelation(file, "DEPENDS_ON", target, _RULE, desc="imports")

    def _calls(self) -> Iterator[ExtractedRelation]:
        for call in self._code.calls:
            caller = self._symbol_key(call.caller) if call.caller is not None else self._file()
            yield from self._dependencies(caller, call, "calls")

    def _inherits(self) -> Iterator[ExtractedRelation]:
        for base in self._code.bases:
            yield from self._dependencies(self._symbol_key(base.symbol), base, "inherits")

    def _dependencies(self, user: str | None, use: Call | Base, how: str) -> Iterator[ExtractedRelation]:
        """Yield the dependencies of a use: on its symbol and, if that is not in this text, on the imported module."""
        ends = [self._used_key(use)]
        if use.target is None and use.module in self._modules:
            ends.append(self._key(f"module {self._modules[use.module]}"))
        for end in ends:
            if user is not None and end is not None and user != end:
                yield ExtractedRelation(user, "DEPENDS_ON", end, _RULE, desc=how)

    def _used_key(self, use: Call | Base) -> str | None:
        """Return the key of the used symbol: one of this text, or an external one under its original name.

        An external base always gets a node; an external callee only links to a stored symbol.
        """
        if use.target is not None:
            return self._symbol_key(use.target)
        is_base = isinstance(use, Base)
        name = use.name if isinstance(use, Base) else use.callee
        span = Span(0, 0) if isinstance(use, Base) else use.span
        if name.startswith("."):
            return None
        for module in self._code.imports:
            if module.module == use.module and name in module.names:
                name = module.names[name] or name
        if not is_base and (use.module is None or not name.isidentifier()):
            return None
        return self._add(f"{'base' if is_base else 'use'} {name}", name, "symbol", span, only_known=not is_base)


def _prefix(code: CodeAnalysis, name: str | None) -> str:
    if name is None or not code.symbols:
        return ""
    first = code.symbols[0].qualified
    return name.removesuffix(first) if name.endswith(f".{first}") else ""
