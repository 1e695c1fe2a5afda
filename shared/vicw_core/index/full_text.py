"""The words of a full text: VICW's own terms, written so that no engine's tokenizer splits, folds or stems them.

A word is a term's id in eight hexadecimal digits. Texts and queries become such words before they reach an engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from vicw_core.index import sparse


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
