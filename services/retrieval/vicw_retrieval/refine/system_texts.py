"""Texts that instruct a program (system prompts, schemas of tools) below what people said."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.text import fold_case

_READ_CHARS = 8000
_ROLES = frozenset({"system", "tool", "function", "developer"})
_SUBTYPE = re.compile(
    r"(?:system|developer)(?:[ _-](?:prompt|message|instructions?))?"
    r"|(?:tool|function)[ _-](?:schema|definition|spec|description|call|result|output|response)s?|tool"
)
_NAME = re.compile(r'"name"\s*:\s*"([^"]{1,100})"')
_SCHEMA = re.compile(r'"(?:parameters|input_?schema|arguments)"\s*:\s*\{|"type"\s*:\s*"object"', re.IGNORECASE)
_PROPERTIES = re.compile(r'"properties"\s*:\s*\{')
_BEGINS = re.compile(r"\s*(?:```\w*\s*)?[\[{]")
_ASKED = re.compile(
    r"\b(?:system|developer) (?:prompt|message)s?|\bprompts?\b|\binstruct(?:s|ed|ions?)?\b|\btools?\b|\bfunctions?\b"
    r"|\bschemas?\b|\bparameters?\b|\barguments?\b|\bjson\b|\bapi\b"
    r"|\bsystemprompts?\b|\banweisung(?:en)?\b|\bwerkzeuge?n?\b|\bfunktion(?:en)?\b|\bparametern?\b"
    r"|\boutils?\b|\bconsignes?\b|\bfonctions?\b|\bparamètres?\b"
    r"|\bherramientas?\b|\binstrucci(?:ón|ones)\b|\bfunci(?:ón|ones)\b|\bparámetros?\b"
    r"|\bstrument[oi]\b|\bistruzion[ei]\b|\bfunzion[ei]\b|\bparametr[oi]\b"
    r"|\bferramentas?\b|\binstruç(?:ão|ões)\b|\bfunç(?:ão|ões)\b|\bparâmetros?\b"
    r"|工具|提示词|系统提示|指令|函数|参数|ツール|プロンプト|指示|関数|引数",
    re.IGNORECASE,
)
"""Words of questions for such texts, in the languages whose dates are read."""
_ALIKE = 0.5
"""Minimum strength of what a person said, as a share of the best, to stand above such a text."""
_JUST_BELOW = 1e-6


def asks_for_system_texts(query: str) -> bool:
    """Return whether a question asks for instructions, tools or their parameters.

    >>> asks_for_system_texts("Which tools may you call?"), asks_for_system_texts("What may I not eat?")
    (True, False)
    """
    return _ASKED.search(query) is not None


def is_system_text(speaker: str | None, subtype: str, texts: Sequence[str]) -> bool:
    """Return whether an item is a system prompt, a message of a tool, or the schema of one.

    >>> is_system_text(None, "note", ['{"name": "send", "parameters": {"type": "object", "properties": {"to": {}}}}'])
    True
    >>> is_system_text("Ana", "turn", ["The system prompt is too long."])
    False
    """
    if fold_case(speaker or "") in _ROLES or _SUBTYPE.fullmatch(fold_case(subtype)):
        return True
    return any(_is_schema(text[:_READ_CHARS]) for text in texts)


def _is_schema(text: str) -> bool:
    return bool(_BEGINS.match(text) and _PROPERTIES.search(text) and _SCHEMA.search(text))


def is_named(query: str, texts: Sequence[str]) -> bool:
    """Return whether a question has the name of the tool that a schema describes."""
    folded = fold_case(query)
    names = (fold_case(name) for text in texts for name in _NAME.findall(text[:_READ_CHARS]))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) for name in names if "_" in name or len(name) > 3)


def people_first(candidates: Sequence[Candidate], system: Collection[str], limit: int) -> list[Candidate]:
    """Return the candidates in their new order: those with keys in ``system`` below what people said.

    They stay above whatever fits less than half as well as the best of all; they keep their own order.
    """
    if not candidates or not system:
        return list(candidates)
    least = _ALIKE * max(map(_own, candidates))
    said = [one.score for one in candidates if one.key not in system and _own(one) >= max(least, _JUST_BELOW)]
    if not said:
        return list(candidates)
    floor = min(said[:limit])
    above = [one for one in candidates if one.key in system and one.score >= floor]
    lowered = {one.key: floor - place * _JUST_BELOW - one.score for place, one in enumerate(above, start=1)}
    return in_order(one.raised(system=lowered[one.key]) if one.key in lowered else one for one in candidates)


def _own(candidate: Candidate) -> float:
    """Return how well an item fits by itself: its neighbours in a thread give it of their strength."""
    return max((score for _, score in candidate.passages), default=0.0)


def system_keys(
    query: str, candidates: Sequence[Candidate], subtypes: Mapping[str, str], texts: Mapping[str, Sequence[str]]
) -> set[str]:
    """Return the keys of candidates that are such texts, of those with ``texts``, by key; ``subtypes`` are by uid."""
    return {
        one.key
        for one in candidates
        if (read := texts.get(one.key)) is not None
        and is_system_text(one.item.speaker, subtypes.get(one.item.uid, ""), read)
        and not is_named(query, read)
    }
