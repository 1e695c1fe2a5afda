"""Confidence and type of the bridge between a page and a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from vicw_ingest.knowledge.pages import INDEXES, stem_of
from vicw_ingest.knowledge.record import PageRecord
from vicw_ingest.knowledge.subjects import Subjects, stems
from vicw_shared.model import Node
from vicw_shared.model.knowledge import BRIDGE_RULES, FILE
from vicw_shared.text import fold_case

FLOOR = 0.35
"""Cosine below which the similarity of two texts does not count."""
_BY_KEY, _BY_WORDS, _BY_WORD, _BY_MERE_WORD = 0.9, 0.7, 0.6, 0.4
_BY_TITLE, _BY_ALIAS, _BY_FILE = 0.95, 0.9, 0.8
_SHORTEST = 3
_CODE = frozenset({"commit", "function", "method", "class", "module", "file", "test", "code"})


@dataclass(frozen=True, slots=True)
class BridgeVerdict:
    """A supported bridge: its type, ``confidence`` in (0, 1], and the rule that found it."""

    type: str
    confidence: float
    rule: str


def subjects_in(page: Node) -> Subjects:
    """Return the subjects of a stored page."""
    record = PageRecord.of(page)
    return Subjects(record.words, record.keys, record.rules)


def judge_bridge(page: Node, memory: Node, text: str, cosine: float, *, by_key: bool = False) -> BridgeVerdict | None:
    """Return the bridge between a page and a memory judged by ``text``; None without evidence for one.

    Confidence is ``1 - (1 - t)(1 - s)``. ``t`` is .9 ``by_key`` (the text has an id of the page); .7 if it has all the
    words of a title or alias of several words; for a single word .6 if the page has rules, else .4; without a match 0.
    ``s`` is the ``cosine`` scaled from FLOOR … 1 to 0 … 1.
    """
    subjects = subjects_in(page)
    if by_key and fold_case(memory.subtype) in _CODE:
        return BridgeVerdict("IMPLEMENTS", _BY_KEY, f"{BRIDGE_RULES}id")
    if page.subtype == FILE:
        return None
    text_score, rule = (_BY_KEY, "id") if by_key else (_words(subjects, stems(text)), "title")
    similarity = max(0.0, min(1.0, (cosine - FLOOR) / (1.0 - FLOOR)))
    confidence = 1.0 - (1.0 - text_score) * (1.0 - similarity)
    if confidence <= 0.0:
        return None
    edge_type = "GOVERNS" if subjects.rules else "DESCRIBES"
    return BridgeVerdict(edge_type, round(confidence, 3), f"{BRIDGE_RULES}{rule if text_score else 'statement'}")


def _words(subjects: Subjects, text_stems: Collection[str]) -> float:
    groups = [group for group in subjects.words if all(word in text_stems for word in group)]
    if any(len(group) > 1 for group in groups):
        return _BY_WORDS
    return (_BY_WORD if subjects.rules else _BY_MERE_WORD) if groups else 0.0


def names_of(page: Node) -> Mapping[str, float]:
    """Return the case-folded names that a page gives to its subject, with the confidence of each.

    The file name of an index page and a title of general words do not count.
    """
    record = PageRecord.of(page)
    stem = stem_of(record.path)
    names = {fold_case(alias): _BY_ALIAS for alias in record.aliases}
    if page.subtype == FILE:
        return names
    if stem not in INDEXES:
        names = {fold_case(stem.replace("-", " ").replace("_", " ")): _BY_FILE} | names
    if record.words or record.keys:
        names |= {fold_case(page.name): _BY_TITLE}
    return {name: confidence for name, confidence in names.items() if len(name) >= _SHORTEST and name not in INDEXES}
