"""Analyse a code file or a fragment of one."""

from __future__ import annotations

import re
from itertools import islice

from vicw_core.code.languages import (
    LANGUAGES,
    CodeLanguage,
    language_named,
    language_of_shebang,
    languages_of_path,
)
from vicw_core.code.model import Bounds, CodeAnalysis, Symbol
from vicw_core.code.parser import Parsed, parse
from vicw_core.code.references import Resolver, bases_of, calls_of, imports_of
from vicw_core.code.symbols import scopes_of

DEFAULT_BOUNDS = Bounds()
GUESSED_CHARACTERS = 20_000
"""A longer text of undeclared language is not analysed, because every grammar would have to be tried."""
MOSTLY_BROKEN = 0.5
"""Share of a text inside syntax errors above which its declared language is probably wrong."""
_GUESS_BROKEN = 0.05
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_JUNK_SHARE = 0.01
_CODE_SIGN = re.compile(r"[{};=]|\)\s*:|^\s*(?:def|class|module|import|from|require|end|func|fn|use)\b", re.M)


def analyse_in_process(text: str, path: str | None, language: str | None, bounds: Bounds) -> CodeAnalysis | None:
    """Analyse code in this process; contract of ``worker_process.analyse_code``."""
    if not text.strip() or len(_CONTROL.findall(text)) > _JUNK_SHARE * len(text):
        return None
    declared = _declared_languages(text, path, language)
    if declared is None:
        return None
    parsed = _best(text, declared, bounds) if declared else None
    if parsed is None or parsed.broken > MOSTLY_BROKEN:
        parsed = guess(text, bounds) or parsed
    return _analysis(parsed, path, bounds) if parsed else None


def _declared_languages(text: str, path: str | None, language: str | None) -> tuple[CodeLanguage, ...] | None:
    """Return the declared languages of the text; () if none is declared, None if the declared one is unsupported."""
    if path and (by_path := languages_of_path(path)):
        return by_path
    if language and (named := language_named(language)):
        return (named,)
    if shebang := language_of_shebang(text):
        return (shebang,)
    return None if language or (path and re.search(r"\.\w+$", path)) else ()


def _best(text: str, languages: tuple[CodeLanguage, ...], bounds: Bounds) -> Parsed | None:
    best: Parsed | None = None
    for language in languages:
        parsed = parse(text, language, bounds)
        if parsed and (best is None or parsed.broken < best.broken):
            best = parsed
        if best and not best.errors:
            break
    return best


def guess(text: str, bounds: Bounds = DEFAULT_BOUNDS) -> Parsed | None:
    """Parse a fragment with the grammar that fits it best; None if none does or two fit equally well.

    A grammar fits if it finds a definition or an import and almost no errors. The fewest errors win; then, of a
    language and its superset, the smaller one; then the most matches of ``signature``.
    """
    if len(text) > GUESSED_CHARACTERS or not _CODE_SIGN.search(text):
        return None
    tried = [parse(text, language, bounds) for language in LANGUAGES.values() if language.guessed]
    readable = [parsed for parsed in tried if parsed and parsed.broken <= _GUESS_BROKEN and _defines_something(parsed)]
    if not readable:
        return None
    fewest = min((parsed.errors, parsed.broken) for parsed in readable)
    best = [parsed for parsed in readable if (parsed.errors, parsed.broken) == fewest]
    names = {parsed.language.name for parsed in best}
    best = [parsed for parsed in best if parsed.language.within not in names]
    if len(best) > 1:
        counts = {
            parsed.language.name: len(set(parsed.language.signature.findall(text)))
            for parsed in best
            if parsed.language.signature
        }
        most = max(counts.values(), default=0)
        best = [parsed for parsed in best if most and counts.get(parsed.language.name) == most]
    return best[0] if len(best) == 1 else None


def _defines_something(parsed: Parsed) -> bool:
    return any(not {"name", "from", "near", "use"}.isdisjoint(match) for match in parsed.matches)


def _analysis(parsed: Parsed, path: str | None, bounds: Bounds) -> CodeAnalysis:
    scopes = scopes_of(parsed, bounds.depth)
    imports = list(islice(imports_of(parsed, path), bounds.imports))
    resolver = Resolver(scopes, imports, own_members=parsed.language.own_members)
    calls = list(islice(calls_of(parsed, scopes, resolver), bounds.calls))
    spans = parsed.spans()
    return CodeAnalysis(
        language=parsed.language.name,
        path=path,
        symbols=tuple(
            Symbol(
                qualified=scope.qualified,
                kind=scope.kind,
                span=spans(scope.start, scope.end),
                container=scope.prefix or None,
                doc=scope.doc,
            )
            for scope in scopes
            if scope.kind
        )[: bounds.symbols],
        imports=tuple(imports),
        calls=tuple(calls),
        bases=tuple(bases_of(parsed, scopes, resolver)),
        broken=parsed.broken,
        wrong=tuple(spans(start, end) for start, end in parsed.wrong[: bounds.errors]),
    )
