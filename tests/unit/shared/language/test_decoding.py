"""Whatever the scores are, the heads form a tree with one root for every sentence."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.language import arcs, decoding
from vicw_shared.language.batch import lay_out
from vicw_shared.language.hashing import Lexicon


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 2**32 - 1), st.booleans())
def test_heads_form_a_tree(lengths: list[int], seed: int, tied: bool) -> None:
    batch = lay_out([["word"] * length for length in lengths], Lexicon())
    nodes = arcs.Nodes.of(batch, np.zeros(sum(lengths), dtype=np.int64))
    pairs = arcs.Pairs.of(nodes)
    random = np.random.default_rng(seed)
    scores = (random.integers(0, 2, len(pairs.heads)) if tied else random.normal(size=len(pairs.heads))).astype(
        np.float32
    )
    head = decoding.heads(nodes, pairs, scores)
    for start, length in zip(nodes.starts, lengths, strict=True):
        words = range(start + 1, start + length + 1)
        assert sum(head[word] == start for word in words) == 1
        for word in words:
            seen = set()
            while word != start:
                assert word not in seen
                seen.add(word)
                word = head[word]
                assert start <= word <= start + length


def test_the_best_scored_heads_are_taken() -> None:
    batch = lay_out([["a", "b", "c"]], Lexicon())
    nodes = arcs.Nodes.of(batch, np.zeros(3, dtype=np.int64))
    pairs = arcs.Pairs.of(nodes)
    wanted = {1: 2, 2: 0, 3: 2}
    scores = np.array([wanted[d] == h for h, d in zip(pairs.heads, pairs.dependents, strict=True)], dtype=np.float32)
    assert decoding.heads(nodes, pairs, scores).tolist() == [0, 2, 0, 2]
