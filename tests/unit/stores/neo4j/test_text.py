"""What becomes of a question on its way to Neo4j's full-text index; and of settings on theirs to its driver."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.index.full_text import query_words
from vicw_stores.neo4j.cypher import edges
from vicw_stores.neo4j.cypher.parts import one_of
from vicw_stores.neo4j.keys import chain_end, chain_prefix, place, tenant_key
from vicw_stores.neo4j.text import query_of

_INT = st.integers(-(2**62), 2**62)


@given(st.text())
def test_full_text_queries_contain_only_words_of_the_index(text: str) -> None:
    query = query_of("t", text)
    if query is not None:
        words = query.partition("words:(")[2].partition(")")[0].split()
        assert all(len(word) == 8 and set(word) <= set("0123456789abcdef") for word in words)


def test_full_text_queries_are_limited_to_one_hundred_words() -> None:
    query = query_of("t", " ".join(f"w{n}" for n in range(5000)))
    assert query is not None
    assert len(query.partition("words:(")[2].partition(")")[0].split()) == 100


def test_full_text_queries_require_the_tenant_term() -> None:
    (word,) = query_words("harbour")
    query = query_of("t", "harbour")
    assert query == f'+tenant_key:"{tenant_key("t")}"^0 +words:({word})'
    assert tenant_key("t").isdecimal()


def test_common_words_are_left_out_of_full_text_queries_only_beside_others() -> None:
    assert query_of("t", "the harbour") == query_of("t", "harbour")
    assert query_of("t", "the") is not None
    assert query_of("t", "_ ' ’ __") is None


@given(st.lists(st.tuples(_INT, _INT, _INT, _INT), min_size=1))
def test_chain_positions_sort_like_their_keys(keys: list[tuple[int, int, int, int]]) -> None:
    prefix = chain_prefix("t", "c", "f")
    assert [place(prefix, key) for key in sorted(keys)] == sorted(place(prefix, key) for key in keys)
    assert all(prefix < place(prefix, key) < chain_end(prefix) for key in keys)


@pytest.mark.parametrize("name", ["next", "A-B", "A`B", "", "A" * 65, "A]->() DETACH DELETE n //"])
def test_invalid_edge_types_are_not_put_into_cypher(name: str) -> None:
    with pytest.raises(ValueError, match="not an edge type"):
        edges.put(name)
    with pytest.raises(ValueError, match="every type"):
        one_of([])
