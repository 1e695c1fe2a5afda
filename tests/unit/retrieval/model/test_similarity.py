"""How like a question something is by words alone, where there are no vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores.memory import Memory, open_memory
from vicw_core.index.sparse import encode_query, question_terms
from vicw_core.index.term_weights import idf, rarity
from vicw_retrieval.model.similarity import WordSimilarity

QUESTION = "Who built the tower on Skye?"
TEXTS = {
    "both": "A tower on Skye.",
    "one": "It was built late.",
    "none": "Rain, bread, socks.",
    "other": "Built to last.",
}


async def stored(memory: Memory) -> dict[str, str]:
    """Store the texts; return their passages."""
    response = await memory.ingest(*({"id": name, "text": text} for name, text in TEXTS.items()))
    nodes = await memory.standalone.graph.nodes(memory.tenant, [item.uid for item in response.items])
    return {item.id or "": nodes[item.uid].qdrant_id or "" for item in response.items}


async def similarity(memory: Memory, question: str) -> WordSimilarity:
    graph, terms = memory.standalone.graph, question_terms(question)
    known = rarity(terms, await graph.frequencies(memory.tenant, None, terms), most=0.5)
    return WordSimilarity(graph, memory.tenant, encode_query(question).indices, known)


async def test_word_similarity_is_the_share_of_the_questions_word_rarity(store: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        passages = await stored(memory)
        likeness = await similarity(memory, QUESTION)
        # "tower", "on" and "skye" are in one passage of four, "built" is in two, "the" in none
        rare, common = idf(4, 1), idf(4, 2)
        whole = 3 * rare + common
        found = await likeness.similarities([*passages.values(), "00000000-0000-0000-0000-000000000000"])
        assert {name: found[passages[name]] for name in TEXTS} == {
            "both": pytest.approx(3 * rare / whole),
            "one": pytest.approx(common / whole),
            "none": 0.0,
            "other": pytest.approx(common / whole),
        }
        assert len(found) == 4
        (built,) = question_terms("built")
        assert await likeness.words(list(passages.values()), [built]) == {
            passages["one"]: {built},
            passages["other"]: {built},
        }
        assert await likeness.matching(list(passages.values())) == set(passages.values()) - {passages["none"]}


async def test_a_question_without_stored_words_is_similar_to_no_text(store: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        passages = await stored(memory)
        for question in ("volcano", "who?", ""):
            likeness = await similarity(memory, question)
            assert set((await likeness.similarities(list(passages.values()))).values()) <= {0.0}
            assert await likeness.matching(list(passages.values())) == set()
