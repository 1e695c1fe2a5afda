"""The claims of a sentence: those of the first pattern that fits it, and each of its parts."""

from __future__ import annotations

import re
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.clauses import Clause, clauses
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.moods import hearsay, is_asserted
from vicw_ingest.extraction.rules.truth.scope import scoped
from vicw_ingest.extraction.rules.truth.spelling import expanded
from vicw_ingest.extraction.rules.truth.subjects import subject_of
from vicw_ingest.extraction.rules.truth.topics import PATTERNS
from vicw_shared.language.analysis import Sentence

_SO = ", so "
_WORDS = re.compile(r"→|[-=]>|[\w-]+|:")
_TRIED: dict[str, list[int]] = {}
for _at, _pattern in enumerate(PATTERNS):
    for _word in _pattern.words:
        _TRIED.setdefault(_word, []).append(_at)


def claims(sentence: Sentence) -> list[Claim]:
    """Return what a sentence claims of attributes; most claim nothing."""
    whole = expanded(_written(sentence))
    told, _, own = whole.partition(_SO)
    source, told = hearsay(told)
    if source is None:
        return _claims_of(whole, sentence)
    # What follows from hearsay is the speaker's own: "Priya says that it is off, so we moved it".
    return [
        *(replace(claim, source=source) for claim in _claims_of(told, sentence)),
        *_claims_of(own[:1].upper() + own[1:], sentence),
    ]


def _claims_of(text: str, sentence: Sentence) -> list[Claim]:
    if not is_asserted(text):
        return []
    found: dict[Claim, Claim] = {}
    for claim in (claim for clause in clauses(text, sentence) for claim in _claims(clause)):
        found.setdefault(replace(claim, now=False), claim)
    return list(found.values())


def _claims(clause: Clause) -> list[Claim]:
    words = {word for word in _WORDS.findall(clause.text.casefold()) if word in _TRIED}
    for at in sorted({at for word in words for at in _TRIED[word]}):
        pattern = PATTERNS[at]
        if clause.future and not pattern.planned:
            continue
        match = pattern.form.match(clause.text)
        if match is None:
            continue
        groups = {name: value.strip(" .") for name, value in match.groupdict().items() if value is not None}
        subject = subject_of(groups["s"]) if "s" in groups else ""
        if subject is not None and "s" in groups and groups["s"].split()[0].casefold() in clause.no_subjects:
            continue
        found = list(pattern.made(subject, groups | clause.said)) if subject is not None else []
        if found:
            now = "now" in clause.said or _CHANGED.search(clause.text) is not None
            return [replace(claim, now=now) for claim in scoped(found, clause.text[match.end() :])]
    return []


_CHANGED = re.compile(
    r"\b(?:moved|relocated|migrated|joined|left|became|switched|changed|transferred|sold|took over|taken over|promoted|"
    r"renamed|elected|appointed|replaced|handed|gave|given|passed|bought|inherited|reassigned|settled|stepped "
    r"down|resigned)\b"
)


def _written(sentence: Sentence) -> str:
    text, end = "", None
    for word in sentence.words:
        text += ("" if end is None or word.start == end else " ") + word.text
        end = word.end
    return text
