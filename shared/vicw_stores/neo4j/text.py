"""Full-text query builder: a caller's text becomes words of the index, never query syntax."""

from __future__ import annotations

from vicw_core.index.full_text import query_words
from vicw_stores.neo4j.keys import tenant_key

_MAX_WORDS = 100
"""Maximum number of words: Lucene refuses over 1,024 clauses."""
_COMMON = frozenset(
    query_words(
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
        "they this to was will with"
    )
)
"""Words that nearly every English text has: they are left out beside others, since each would match every Chunk."""


def query_of(tenant: str, text: str) -> str | None:
    """Return the query for a tenant's Chunks with any word of ``text``, or None if it has no word.

    The tenant's key is a required term of weight 0.
    """
    found = query_words(text)
    words = " ".join([word for word in found if word not in _COMMON][:_MAX_WORDS] or found)
    return f'+tenant_key:"{tenant_key(tenant)}"^0 +words:({words})' if words else None
