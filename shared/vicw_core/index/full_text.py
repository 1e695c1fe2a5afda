"""The words of a full text: VICW's own terms, written so that no engine's tokenizer splits, folds or stems them.

A word is a term's id in eight hexadecimal digits. Texts and queries become such words before they reach an engine.

An engine weighs words by its whole index, so by other tenants' and contexts' texts, and by those that were retired.
Therefore its best passages are scored anew, by the counts of what is searched: both engines rank alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from vicw_core.index import sparse
from vicw_core.index.term_weights import weighted
from vicw_shared.ports import SparseVector, TermFrequencies, TextHit

SCORED = 4
"""How many times the passages that are asked for an engine finds, for their order to be VICW's own."""
_AVERAGE_WORDS = sparse.AVERAGE_TERMS * 4 / 3
"""An index has a third more terms than a text has words: forms, and what is more than a word."""


def text_words(text: str) -> str:
    """Return the words of a text for the index, separated by spaces."""
    return " ".join(map(index_word, sparse.document_terms(text)))


def head_words(name: str, title: str | None, tags: Sequence[str], bucket: str | None) -> str:
    """Return the words of an item's name, title, tags and bucket, each analysed by itself and none twice."""
    names = [name, title or "", *tags, bucket or ""]
    return " ".join(filter(None, (text_words(one) for one in dict.fromkeys(names) if one)))


def query_words(text: str) -> list[str]:
    """Return the distinct words of a query, in its order."""
    return list(map(index_word, sparse.encode_query(text).indices))


def index_word(term: int) -> str:
    """Return the word of a term."""
    return f"{term:08x}"


def ranked(
    query: SparseVector, frequencies: TermFrequencies, passages: Mapping[str, Sequence[str]], limit: int
) -> list[TextHit]:
    """Return the best ``limit`` passages by BM25, best first; ties in order of uid, those without a word left out.

    ``passages`` has the words of each by uid, in any order; words that count double are there twice. ``frequencies``
    are those of the query's terms in what is searched.
    """
    weights = weighted(query, frequencies)
    by_word = {index_word(term): weight for term, weight in zip(weights.indices, weights.values, strict=True)}
    scores = {uid: _bm25(words, by_word) for uid, words in passages.items()}
    best = sorted((uid for uid in scores if scores[uid] > 0), key=lambda uid: (-scores[uid], uid))
    return [TextHit(uid, scores[uid]) for uid in best[:limit]]


def _bm25(words: Sequence[str], weights: Mapping[str, float]) -> float:
    counts = Counter(word for word in words if word in weights)
    found = sparse.saturated(counts, len(words), _AVERAGE_WORDS)
    return sum(weights[word] * weight for word, weight in sorted(found.items()))
