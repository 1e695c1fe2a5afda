"""The claims of a sentence: those of the first pattern that fits it, and each of its parts."""

from __future__ import annotations

import re
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.moods import hearsay, is_asserted, is_future
from vicw_ingest.extraction.rules.truth.patterns import PATTERNS
from vicw_ingest.extraction.rules.truth.subjects import NAME, subject_of
from vicw_shared.language.analysis import Sentence

_PARTS = re.compile(
    r"(?:[,;:–—.]|\s-)\s+(?:so |and |but |as |then )?(?:now )?|\s(?:and|so|but|because|since)\s(?=(?:I|[Ww]e|"
    r"[Mm]y|[Oo]ur|the|he|she|it)\b)"
)
_SO = ", so "
_LEADING = re.compile(
    r"^(?:(?i:well|oh|so|and|but|actually|by the way|btw|fyi|update|news|also|yes|no|yeah|good news|anyway|now|ok|okay|"
    r"as of (?:today|now|this \w+)|since \w+|from now on|these days|today|yesterday|last \w+|this \w+)[,:]? )+"
)
"""What may stand before a claim without being part of it."""
_ACTOR = re.compile(rf"(?:I|We|{NAME})(?= (?!and\b))")
_AND = re.compile(
    r" and (?=(?:now |just |then |have |has )?(?:joined|moved|started|became|switched|sold|bought|renamed|left|"
    r"work|works|live|lives)\b)"
)


def claims(sentence: Sentence) -> list[Claim]:
    """Return what a sentence claims of attributes; most claim nothing."""
    whole = _expanded(_written(sentence))
    told, _, own = whole.partition(_SO)
    source, told = hearsay(told)
    if source is None:
        return _claims_of(whole)
    # What follows from hearsay is the speaker's own: "Priya says that it is off, so we moved it".
    return [*(replace(claim, source=source) for claim in _claims_of(told)), *_claims_of(_capital(own))]


def _claims_of(text: str) -> list[Claim]:
    text = _LEADING.sub("", text)
    if not is_asserted(text):
        return []
    parts = [part for part in _PARTS.split(text) if part]
    if (who := _ACTOR.match(text)) is not None:
        parts += [f"{who[0]} {rest}" for rest in _AND.split(text)[1:]]
    future = is_future(text)
    return list(dict.fromkeys(claim for part in (text, *parts[1:]) for claim in _claims(_capital(part), future)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _expanded(text: str) -> str:
    """Return a sentence without the contractions that hide a verb."""
    text = re.sub(r"\b([Ii])['’]m\b", r"\1 am", text)
    text = re.sub(r"\b(I|[Ww]e|[Tt]hey|[Yy]ou)['’]ve\b", r"\1 have", text)
    text = re.sub(r"\b([Ww]e|[Tt]hey|[Yy]ou)['’]re\b", r"\1 are", text)
    text = re.sub(r"\b([Hh]e|[Ss]he|[Ii]t)['’]s\b", r"\1 is", text)
    text = re.sub(r"\b(\w+)['’]s (?=(?:now|been|still|a|an|the|in|on|at|called|no longer|not)\b)", r"\1 is ", text)
    text = re.sub(r"(?<=\w)n['’]t\b", " not", text)
    return _capital(text.strip())


def _claims(text: str, future: bool) -> list[Claim]:
    for pattern, made, planned in PATTERNS:
        if future and not planned:
            continue
        match = pattern.match(text)
        if match is None:
            continue
        groups = {name: value.strip(" .") for name, value in match.groupdict().items() if value is not None}
        subject = subject_of(groups["s"]) if "s" in groups else ""
        found = list(made(subject, groups)) if subject is not None else []
        if found:
            return found
    return []


def _written(sentence: Sentence) -> str:
    text, end = "", None
    for word in sentence.words:
        text += ("" if end is None or word.start == end else " ") + word.text
        end = word.end
    return text
