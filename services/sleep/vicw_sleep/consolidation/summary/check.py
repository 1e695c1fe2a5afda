"""Check that a summary still states the facts of its sources, before anything is removed.

The check does not depend on the summary's author. Names, numbers and dates have to be there unchanged; each negation
and each cause needs a sentence about the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_core.index import sparse
from vicw_core.language.sentences import sentences
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary.extractive import SummarySentence
from vicw_sleep.consolidation.summary.facts import Fact, FactKind, facts_of, is_stated

_NEAR = 0.5
"""Minimum similarity of a summary to a passage's sentences, relative to that of the passage itself."""

_EPSILON = 1e-6

type Vectors = Mapping[str, NDArray[np.float32]]


def missing(sources: Sequence[SourceEvent], source_sentences: Sequence[SummarySentence], summary: str) -> list[Fact]:
    """Return the facts of ``source_sentences`` that the summary lacks, in their order."""
    facts = dict.fromkeys(fact for one in source_sentences for fact in sorted(one.facts))
    return _missing_facts(facts, summary, {name for source in sources for name in source.named})


def invented(sentence: str, text: str, named: Collection[str]) -> list[Fact]:
    """Return the facts that a sentence states and a text does not. ``named`` are names that may be in either."""
    return _missing_facts(sorted(facts_of(sentence, named)), text, named)


def _missing_facts(facts: Collection[Fact], text: str, named: Collection[str]) -> list[Fact]:
    text_sentences = sentences_in(text)
    names = {*named, *(fact.key for fact in facts if fact.kind is FactKind.NAME)}
    stated = {fact for sentence in text_sentences for fact in facts_of(sentence, names)}
    stems = [set(sparse.stems(sentence)) for sentence in text_sentences]
    return [fact for fact in facts if fact not in stated and not is_stated(fact, stated, stems)]


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text, line by line."""
    return [line[span.start : span.end] for line in text.split("\n") for span in sentences(line)]


def unrepresented(sources: Sequence[SourceEvent], summary: NDArray[np.float32], vectors: Vectors) -> list[str]:
    """Return the passages (uids) that the summary does not represent, the least similar first.

    ``summary`` has the vectors of its passages, shape (passages, size), of norm 1; ``vectors`` those of the
    sources' passages and statements. A query for a passage's content has to come near the summary, too: the summary
    has to be at least half as similar to the passage's sentences as the passage itself.
    """
    similarity: dict[str, float] = {}
    for source in sources:
        for passage in source.passages:
            own = vectors.get(passage.uid)
            if own is None:
                continue  # it has no vector: lexical search alone finds it
            statements = [one for one in source.statements if one.text and one.text in (passage.text or "")]
            statement_vectors = [vectors[one.uid] for one in statements if one.uid in vectors]
            queries = np.stack(statement_vectors or [own])
            relative = float(np.mean((queries @ summary.T).max(axis=1))) / max(float(np.mean(queries @ own)), _EPSILON)
            if relative < _NEAR:
                similarity[passage.uid] = relative
    return sorted(similarity, key=lambda uid: (similarity[uid], uid))
