"""Analyse a code file or a fragment of one."""

from __future__ import annotations

import re
from itertools import islice

from vicw_ingest.extraction.code.languages import (
    LANGUAGES,
    CodeLanguage,
    language_called,
    language_of_shebang,
    languages_of_path,
)
from vicw_ingest.extraction.code.model import Bounds, CodeReading, Symbol
from vicw_ingest.extraction.code.parser import Parsed, parse
from vicw_ingest.extraction.code.symbols import frames_of
from vicw_ingest.extraction.code.uses import Resolver, bases_of, calls_of, imports_of

DEFAULT_BOUNDS = Bounds()
GUESSED_CHARACTERS = 20_000
"""A longer text of undeclared language is not analysed, because every grammar would have to be tried."""
MOSTLY_BROKEN = 0.5
"""Share of a text inside syntax errors above which its declared language is probably wrong."""
_GUESS_BROKEN = 0.05
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_JUNK_SHARE = 0.01
_CODE_SIGN = re.compile(r"[{};=]|\)\s*:|^\s*(?:def|class|module|import|from|require|end|func|fn|use)\b", re.M)


def read_here(text: str, path: str | None, language: str | None, bounds: Bounds) -> CodeReading | None:
    """Analyse code in this process; contract of ``worker_process.read_code``."""
    if not text.strip() or len(_CONTROL.findall(text)) > _JUNK_SHARE * len(text):
        return None
    told = _declared_languages(text, path, language)
    if told is None:
        return None
    parsed = _best(text, told, bounds) if told else None
    if parsed is None or parsed.broken > MOSTLY_BROKEN:
        parsed = guess(text, bounds) or parsed
    return _reading(parsed, path, bounds) if parsed else None


def _declared_languages(text: str, path: str | None, language: str | None) -> tuple[CodeLanguage, ...] | None:
    """Return the declared languages of the text; () if none is declared, None if the declared one is unsupported."""
    if path and (by_path := languages_of_path(path)):
        return by_path
    if language and (called := language_called(language)):
        return (called,)
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
    readable = [one for one in tried if one and one.broken <= _GUESS_BROKEN and _says_something(one)]
    if not readable:
        return None
    least = min((one.errors, one.broken) for one in readable)
    best = [one for one in readable if (one.errors, one.broken) == least]
    names = {one.language.name for one in best}
    best = [one for one in best if one.language.within not in names]
    if len(best) > 1:
        telling = {
            one.language.name: len(set(one.language.signature.findall(text))) for one in best if one.language.signature
        }
        most = max(telling.values(), default=0)
        best = [one for one in best if most and telling.get(one.language.name) == most]
    return best[0] if len(best) == 1 else None


def _says_something(parsed: Parsed) -> bool:
    return any(not {"name", "from", "near", "use"}.isdisjoint(found) for found in parsed.matches)


def _reading(parsed: Parsed, path: str | None, bounds: Bounds) -> CodeReading:
    frames = frames_of(parsed, bounds.depth)
    imports = list(islice(imports_of(parsed, path), bounds.imports))
    resolver = Resolver(frames, imports, own_members=parsed.language.own_members)
    calls = list(islice(calls_of(parsed, frames, resolver), bounds.calls))
    spans = parsed.spans()
    return CodeReading(
        language=parsed.language.name,
        path=path,
        symbols=tuple(
            Symbol(
                qualified=frame.qualified,
                kind=frame.kind,
                span=spans(frame.start, frame.end),
                container=frame.prefix or None,
                doc=frame.doc,
            )
            for frame in frames
            if frame.kind
        )[: bounds.symbols],
        imports=tuple(imports),
        calls=tuple(calls),
        bases=tuple(bases_of(parsed, frames, resolver)),
        broken=parsed.broken,
    )
