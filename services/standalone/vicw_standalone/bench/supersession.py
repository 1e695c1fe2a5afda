"""How well it is seen that a newer statement takes an older one's place: pairs of statements, each read by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched

from vicw_ingest.extraction.model import ADDRESSEE, SPEAKER, AttributeClaim, SourceText, TextExtraction
from vicw_ingest.extraction.rules.attribute_claims import ParsedClaim, supersedes
from vicw_ingest.extraction.rules.extractor import RuleExtractor
from vicw_shared.progress import Progress
from vicw_shared.text import fold_case
from vicw_standalone.bench.labelled import Line

_BATCH = 20
_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Said(Line):
    """A statement, and who says it."""

    text: str
    speaker: str | None = None


class StatementPair(Line):
    """Two statements, whether the newer replaces the older, and the kind of attribute."""

    older: Said
    newer: Said
    supersedes: bool
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PairScores:
    """Of all pairs: how many, how many of the verdicts are right, how many of the replacements are seen."""

    pairs: int
    precision: float
    recall: float


def measure_supersession(pairs: Sequence[StatementPair], progress: Progress) -> dict[str, PairScores]:
    """Judge each pair as a memory would that holds nothing else; return the scores by kind, ``all`` first."""
    reader = RuleExtractor()
    verdicts: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for done, part in enumerate(batched(pairs, _BATCH), 1):
        sources = [
            SourceText(said.text, _AT, speaker=said.speaker) for pair in part for said in (pair.older, pair.newer)
        ]
        readings = iter(reader.extract(sources))
        for pair in part:
            older, newer = _slots(next(readings), pair.older), _slots(next(readings), pair.newer)
            found = any(supersedes(new, old) for slot, new in newer for at, old in older if at == slot)
            for kind in ("all", pair.kind):
                verdicts[kind].append((found, pair.supersedes))
        progress("judging pairs", min(done * _BATCH, len(pairs)), len(pairs))
    first = {"all": verdicts.pop("all", [])}
    return {kind: _scores(each) for kind, each in (first | dict(sorted(verdicts.items()))).items()}


def _slots(reading: TextExtraction, said: Said) -> list[tuple[tuple[str, str, str], ParsedClaim]]:
    """Return what a statement claims first-hand, and of what: names stand for the nodes that they would be."""
    names = {SPEAKER: fold_case(said.speaker or SPEAKER), ADDRESSEE: ADDRESSEE}
    names |= {thing.key: fold_case(thing.name) for thing in reading.entities}
    found = []
    for each in reading.claims:
        if each.source is None and (each.owner is None or each.owner in names):
            slot = (names[each.owner] if each.owner is not None else "", each.of, each.attribute)
            found.append((slot, _claim(each)))
    return found


def _claim(said: AttributeClaim) -> ParsedClaim:
    return ParsedClaim("", said.attribute, said.value, ended=said.ended, weak=said.weak, now=said.now)


def _scores(verdicts: Sequence[tuple[bool, bool]]) -> PairScores:
    right = sum(found and true for found, true in verdicts)
    said, there = sum(found for found, _ in verdicts), sum(true for _, true in verdicts)
    return PairScores(len(verdicts), right / max(said, 1), right / max(there, 1))
