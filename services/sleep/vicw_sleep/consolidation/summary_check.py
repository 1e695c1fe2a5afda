"""Check that a summary still states the facts of its sources, before anything is removed (design: "Sleep cycle").

The check does not depend on the summary's author. Names, numbers and dates have to be there unchanged; each negation
and each cause needs a sentence about the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared import sparse
from vicw_shared.language.sentences import sentences
from vicw_sleep.consolidation.extractive_summary import SummarySentence
from vicw_sleep.consolidation.facts import Fact, FactKind, facts_of, is_stated
from vicw_sleep.consolidation.model import SourceEvent

_NEAR = 0.5
"""Minimum similarity of a summary to a passage's sentences, relative to that of the passage itself."""

_LEAST = 1e-6

type Vectors = Mapping[str, NDArray[np.float32]]


def missing(sources: Sequence[SourceEvent], told: Sequence[SummarySentence], summary: str) -> list[Fact]:
    """Return the facts of the sources, whose sentences are ``told``, that the summary lacks, in their order."""
    wanted = dict.fromkeys(fact for one in told for fact in sorted(one.facts))
    return _missing_facts(wanted, summary, {name for source in sources for name in source.named})


def invented(sentence: str, text: str, named: Collection[str]) -> list[Fact]:
    """Return the facts that a sentence states and a text does not. ``named`` are names that may be in either."""
    return _missing_facts(sorted(facts_of(sentence, named)), text, named)


def _missing_facts(wanted: Collection[Fact], text: str, named: Collection[str]) -> list[Fact]:
    said = said_in(text)
    known = {*named, *(fact.key for fact in wanted if fact.kind is FactKind.NAME)}
    there = {fact for sentence in said for fact in facts_of(sentence, known)}
    stems = [set(sparse.stems(sentence)) for sentence in said]
    return [fact for fact in wanted if fact not in there and not is_stated(fact, there, stems)]


def said_in(text: str) -> list[str]:
    """Return the sentences of a text, line by line."""
    return [line[span.start : span.end] for line in text.split("\n") for span in sentences(line)]


def unlike(sources: Sequence[SourceEvent], summary: NDArray[np.float32], known: Vectors) -> list[str]:
    """Return the passages (uids) that the summary does not represent, the least similar first.

    ``summary`` has the vectors of its passages, shape (passages, size), of norm 1; ``known`` those of the sources'
    passages and statements. A query for a passage's content has to come near the summary, too: the summary has to be at
    least half as similar to the passage's sentences as the passage itself.
    """
    left: dict[str, float] = {}
    for source in sources:
        for passage in source.passages:
            own = known.get(passage.uid)
            if own is None:
                continue  # it has no vector: lexical search alone finds it
            said = [one for one in source.statements if one.text and one.text in (passage.text or "")]
            mine = [known[one.uid] for one in said if one.uid in known]
            asked = np.stack(mine or [own])
            near = float(np.mean((asked @ summary.T).max(axis=1))) / max(float(np.mean(asked @ own)), _LEAST)
            if near < _NEAR:
                left[passage.uid] = near
    return sorted(left, key=lambda uid: (left[uid], uid))
