"""What becomes of a question on its way to Neo4j's full-text index; and of settings on theirs to its driver."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_stores.neo4j.cypher import edges
from vicw_stores.neo4j.cypher.parts import one_of
from vicw_stores.neo4j.keys import chain_end, chain_prefix, place, tenant_key
from vicw_stores.neo4j.text import parts_of, query_of, terms_of

_INT = st.integers(-(2**62), 2**62)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Harbour, at NIGHT", ["harbour", "night"]),
        ("harbour harbour Harbour", ["harbour"]),
        ('AND OR "NOT" (x) +y -z* ~1 a:b \\', ["x", "y", "z", "1", "b"]),
        ("don't snake_case", ["don't", "snake_case"]),
        ("_ ' ’ __", []),
        ("今日は良い", ["今日", "日は", "は良", "良い"]),
        ("日", ["日"]),
        ("นี่ हिन्दी", ["นี่", "हिन्दी"]),
        ("", []),
    ],
)
def test_full_text_terms_are_words_of_letters_and_digits(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("call os.path.join(a, b).", ["os", "path", "join"]),
        ("std::move, a - b. c:d", ["c", "d"]),
        ("3,14 and 1.5", ["3", "14", "1", "5"]),
        ("Ends here. Begins, there; or -here-.", []),
        ("count_ships(harbour.open_all) __init__ _", ["count", "ships", "harbour", "open_all", "open", "all", "init"]),
    ],
)
def test_joined_words_are_indexed_in_parts_too(text: str, parts: list[str]) -> None:
    assert parts_of(text) == parts


@given(st.text())
def test_full_text_terms_contain_no_quote_or_white_space(text: str) -> None:
    for term in terms_of(text):
        assert not set('"\\') & set(term)
        assert not any(ch.isspace() for ch in term)


def test_full_text_terms_are_limited_to_one_hundred() -> None:
    assert len(terms_of(" ".join(f"w{n}" for n in range(5000)))) == 100


def test_full_text_queries_require_the_tenant_term() -> None:
    query = query_of("t", "harbour")
    assert query == f'+tenant_key:"{tenant_key("t")}"^0 +(text:("harbour") parts:("harbour") head:("harbour")^2)'
    assert tenant_key("t").isdecimal()
    assert query_of("t", "the") is None


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
