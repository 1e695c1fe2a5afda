"""For whom, where and when a value holds: what holds for some, or at times, says nothing of the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import ATTRIBUTES, POSTS

_UNSCOPED = frozenset(
    "name surname nickname title username hometown birthday job role position mission slogan logo headquarters "
    "major".split()
)
_SCOPED = re.compile(
    r"amount.*|price|port|version|end|time of .*|state (?:on|working|open)|identity|"
    rf"(?:{'|'.join(sorted(ATTRIBUTES - POSTS - _UNSCOPED))})"
)
_SOME = re.compile(r" (?:with|without|who|that|which|whose|from|where|waiting|ready|left over)\b")
"""*Two rooms with a screen*: of more rooms, maybe."""
_LATELY = re.compile(r" (?:now|again|instead|these days|nowadays|anymore|any more|today|already)$")
_SCOPE = re.compile(
    r"(?: now| again)? (?:(?P<of>(?:for|in|on|at|under|via|over|between|with|without) (?!(?:now|every\b|each|any|good|"
    r"everyone|everybody|all|us|me|free|sure|example|instance|that|this|the last|years|some|fact|total|order|"
    r"place|average|"
    r"top|least|last|stock|line|case|addition|effect|immediate|january|february|march|april|may|june|july|august|"
    r"september|"
    r"october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d)\b)[^,.;:!]+|one way|each way|return\b|"
    r"round trip)|(?:when|whenever|while|during|(?:until|before|after) (?:\d|noon|midnight|dark|lunch|work|school|"
    r"hours)|unless|if|outside|as long as|only)\b)",
    re.IGNORECASE,
)


def scoped(found: Sequence[Claim], rest: str) -> Iterator[Claim]:
    """Yield claims with what they hold for, if that follows: *30 seconds for uploads*; none of what holds at times."""
    scope = _SCOPE.match(rest)
    for claim in found:
        inside = _SCOPE.search(claim.value) if _SCOPED.fullmatch(claim.attribute) else None
        if inside is not None and inside.start() > 0:
            yield from scoped([replace(claim, value=claim.value[: inside.start()])], claim.value[inside.start() :])
        elif claim.attribute.startswith("count of") and _SOME.match(rest):
            continue
        elif scope is None or not _SCOPED.fullmatch(claim.attribute):
            yield claim
        elif scope["of"] is not None:
            yield replace(claim, attribute=f"{claim.attribute} {_LATELY.sub('', scope['of'].casefold().strip())}")
