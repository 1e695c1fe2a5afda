"""Result model of code analysis.

Representation in the graph (``Entity`` throughout, so that no label is added):

* the text itself: subtype ``file`` if its path is known, else its item if that has no other text;
* a ``Symbol``: subtype by its kind (``function``, ``method``, ``class``, ``interface``, ``type``, ``module``,
  ``constant``), named ``qualified``, one per file; ``CONTAINS`` from its container, or from the file;
* an ``ImportedModule``: ``DEPENDS_ON {desc: "imports"}`` from the file to the file it resolves to, or to a ``module``;
* a ``Call``: ``DEPENDS_ON {desc: "calls"}`` from the caller to its target, or to the imported module and, if it is
  stored, the module's symbol; nothing for a call without target and module;
* a ``Base``: ``DEPENDS_ON {desc: "inherits"}`` from the symbol to its base and, if imported, to the base's module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from vicw_shared.text import Span


class SymbolKind(StrEnum):
    """The kind of a symbol; the subtype of its node."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    """Also a struct and a record."""
    INTERFACE = "interface"
    """Also a trait and a protocol."""
    TYPE = "type"
    """An enumeration, a union, an alias."""
    MODULE = "module"
    """A namespace inside a file."""
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition.

    ``qualified`` is its name inside the text, joined by dots in every language (``Store.put``); overloads share one.
    ``container`` is the qualified name of its enclosing symbol, None for the text itself. It may name a symbol
    defined elsewhere: the class of ``void Store::put() {}``, of a Go method, of a Rust ``impl``.
    ``span`` is in characters of the text, with decorators, without the comment above. ``doc`` is the first line with
    words in its docstring or in the comment above it, without comment markers; None if it has none.
    """

    qualified: str
    kind: SymbolKind
    span: Span
    container: str | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """A module that the text imports.

    ``module`` is its name as written, without quotes. ``names`` maps local names to names in the
    module; ``""`` is the module itself. ``resolved`` is the path of the file or folder that a relative import
    refers to, relative to the root of the text's own path, with a suffix only if one is written; None for any other
    import, or if the text has no path. ``span`` is of the module's name, in characters.
    """

    module: str
    names: Mapping[str, str]
    resolved: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A call, listed once for each caller and callee.

    ``caller`` is the qualified name of the innermost symbol around it, None at the level of the text. ``callee`` is
    the called name as written, without type arguments and white space (``db.connect``); if the receiver is an
    expression (``rows()[0].close()``), only the last name remains, after a dot: ``.close``.
    ``target`` is the qualified name of the called symbol of this text, ``module`` the imported module that the callee
    belongs to; None if uncertain. ``span`` is of the first such call, in characters.
    """

    caller: str | None
    callee: str
    target: str | None
    module: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Base:
    """The base of a class, an interface or a trait's implementation: ``name`` as written, without type arguments.

    ``symbol`` is the qualified name of the derived type, which the text need not define, as with ``container``.
    ``target`` and ``module`` are as in ``Call``.
    """

    symbol: str
    name: str
    target: str | None
    module: str | None


@dataclass(frozen=True, slots=True)
class CodeAnalysis:
    """The definitions and uses in a piece of code, each in the order of the text.

    ``language`` is a name of ``LANGUAGES``. ``broken`` is the share of the text (0 to 1) inside syntax
    errors; ``wrong`` are the spans of the first of them, in characters.
    """

    language: str
    path: str | None
    symbols: tuple[Symbol, ...]
    imports: tuple[ImportedModule, ...]
    calls: tuple[Call, ...]
    bases: tuple[Base, ...]
    broken: float
    wrong: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the analysis of one text."""

    characters: int = 1_000_000
    """Text beyond this limit is ignored."""
    seconds: float = 10.0
    """Limit for parsing by one grammar, and for all work on a longer text; no result if it is exceeded."""
    symbols: int = 2_000
    errors: int = 20
    imports: int = 1_000
    calls: int = 10_000
    """Limit on calls after equal ones are joined."""
    depth: int = 24
    """Definitions nested more deeply are dropped."""
