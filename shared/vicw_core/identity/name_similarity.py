"""Similarity of names: rules for common variants, and spelling for others.

Scores are in [0, 1], higher is more similar; 1 is the same name. The scores of rules are set by hand and rank the
rules. The score of spelling is the normalised indel similarity 2·LCS ÷ (length + length), rapidfuzz's ``ratio``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rapidfuzz import fuzz, process

from vicw_shared.text import fold_case

SAME, ACCENTS, ORDER, STATED, INITIALS, PART, OTHER_SUBTYPE, EITHER = 1.0, 0.98, 0.95, 0.9, 0.85, 0.7, 0.75, 0.5
_MIN_LETTERS = 5
"""Minimum letters of a name for comparison by spelling: in shorter names, one letter makes a different name."""
_ACCENTS = frozenset(map(chr, range(0x300, 0x370)))
"""Combining accents of Latin, Greek and Cyrillic; in other scripts, marks form different letters."""
_INSIDE = frozenset(" -'’.,")
_PEOPLE = frozenset({"person", "name"})
_MAX_EITHER = 3
"""Limit on the longer names that contain a word; with more, the word does not discriminate."""
_ROWS = 500
_MAX_PER_KEY = 50
"""Limit on the names that share a key: with more, none of them are paired, since the key does not discriminate."""


@dataclass(frozen=True)
class EntityName:
    """A name of an entity, with the entity's number (``entity``), kind (only equal kinds are compared) and subtype."""

    entity: int
    kind: str
    subtype: str
    name: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The case-folded words without accents and punctuation."""
        plain = unicodedata.normalize("NFKD", fold_case(self.name))
        letters = (" " if unicodedata.category(ch)[0] in "PSZ" else ch for ch in plain if ch not in _ACCENTS)
        return tuple("".join(letters).split())

    @cached_property
    def is_spelt(self) -> bool:
        """Whether it consists of words only: in a path, symbol or version every character is significant."""
        return all(ch.isalpha() or ch in _INSIDE for ch in self.name)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities that may be the same, by number, the lower first; ``spelt``: only their spelling is similar."""

    entities: tuple[int, int]
    score: float
    reason: str
    spelt: bool = False


def pairs_of(names: Sequence[EntityName], threshold: float | None, stated: Iterable[Pair] = ()) -> list[Pair]:
    """Return each pair of entities that may be the same, those ``stated`` among them, with its best score, best first.

    Pairs by spelling alone need a similarity of at least ``threshold``; None skips this slow comparison.
    """
    best: dict[tuple[int, int], Pair] = {}
    spelt = _by_spelling(names, threshold) if threshold is not None else ()
    for pair in (*stated, *_by_rules(names), *spelt):
        if pair.entities not in best or pair.score > best[pair.entities].score:
            best[pair.entities] = pair
    return sorted(best.values(), key=lambda pair: (-pair.score, pair.entities))


def _by_rules(names: Sequence[EntityName]) -> Iterator[Pair]:
    spelt = [one for one in names if one.is_spelt and len(one.words) > 1]
    for one, other in _pairs_sharing_key((one, " ".join(one.words) or fold_case(one.name)) for one in names):
        if fold_case(one.name) == fold_case(other.name):
            alike = one.subtype == other.subtype
            yield _pair(one, other, *((SAME, "same name") if alike else (OTHER_SUBTYPE, "same name, another subtype")))
        elif one.is_spelt and other.is_spelt and one.subtype == other.subtype:
            yield _pair(one, other, ACCENTS, "same name but for accents and punctuation")
    for one, other in _pairs_sharing_key((one, " ".join(sorted(one.words))) for one in spelt):
        if one.words != other.words and one.subtype == other.subtype:
            yield _pair(one, other, ORDER, "same words in another order")
    for one, other in _pairs_sharing_key((one, one.words[-1]) for one in spelt):
        if one.subtype == other.subtype and _is_short_for(one.words, other.words):
            yield _pair(one, other, INITIALS, "initials")
    yield from _by_part(names, spelt)


def _by_part(names: Sequence[EntityName], spelt: Sequence[EntityName]) -> Iterator[Pair]:
    """Pair a one-word name with longer names that begin or end with it, if they belong to one entity or to a few.

    The subtype ``name`` is the default of unclassified names, so it may match ``person``.
    """
    longer: dict[tuple[str, str], list[EntityName]] = {}
    for one in spelt:
        for word in {one.words[0], one.words[-1]}:
            longer.setdefault((one.kind, word), []).append(one)
    for one in names:
        if len(one.words) == 1 and one.is_spelt and len(one.words[0]) > 1:
            matches = [
                other
                for other in longer.get((one.kind, one.words[0]), [])
                if other.entity != one.entity and _may_be_alike(one.subtype, other.subtype)
            ]
            entities = {other.entity for other in matches}
            if len(entities) == 1:
                yield _pair(one, matches[0], PART, "one word of the only longer name that has it")
            elif one.subtype in _PEOPLE and len(entities) <= _MAX_EITHER:
                yield from (_pair(one, other, EITHER, "one word of several longer names") for other in matches)


def _may_be_alike(one: str, other: str) -> bool:
    return one == other or {one, other} == _PEOPLE


def _by_spelling(names: Sequence[EntityName], threshold: float) -> Iterator[Pair]:
    groups: dict[tuple[str, str], list[EntityName]] = {}
    for one in names:
        if one.is_spelt and len("".join(one.words)) >= _MIN_LETTERS:
            groups.setdefault((one.kind, one.subtype), []).append(one)
    for group in groups.values():
        texts = [" ".join(one.words) for one in group]
        for start in range(0, len(group), _ROWS):
            scores = process.cdist(
                texts[start : start + _ROWS], texts[start:], scorer=fuzz.ratio, score_cutoff=threshold * 100
            )
            for row, column in zip(*scores.nonzero(), strict=True):
                one, other = group[start + int(row)], group[start + int(column)]
                if row < column and one.entity != other.entity and one.words != other.words:
                    score = round(float(scores[row, column]) / 100, 4)
                    yield _pair(one, other, min(score, ACCENTS), f"spelt alike ({score:.2f})", spelt=True)


def _pairs_sharing_key(keyed: Iterable[tuple[EntityName, str]]) -> Iterator[tuple[EntityName, EntityName]]:
    """Yield the pairs of names with equal kind and key that belong to different entities."""
    buckets: dict[tuple[str, str], list[EntityName]] = {}
    for one, key in keyed:
        buckets.setdefault((one.kind, key), []).append(one)
    for bucket in buckets.values():
        if len(bucket) <= _MAX_PER_KEY:
            yield from ((one, other) for one, other in combinations(bucket, 2) if one.entity != other.entity)


def _is_short_for(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two names with the same last word agree in the words before it, at least one as an initial.

    "j smith" is short for "john smith", but not for "john paul smith"; "john smith" is not short for "jane smith".
    """
    if len(one) != len(other) or one[-1] != other[-1]:
        return False
    before = list(zip(one[:-1], other[:-1], strict=True))
    agree = all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in before)
    return agree and any(len(a) != len(b) for a, b in before)


def _pair(one: EntityName, other: EntityName, score: float, reason: str, *, spelt: bool = False) -> Pair:
    low, high = sorted((one.entity, other.entity))
    return Pair((low, high), score, reason, spelt)
