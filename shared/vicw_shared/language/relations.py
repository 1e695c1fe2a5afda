"""In what way a word depends on its head (Universal Dependencies' relations), by a linear model."""

from __future__ import annotations

import numpy as np

from vicw_shared.language.arcs import ROOT, Nodes
from vicw_shared.language.batch import Indices
from vicw_shared.language.hashing import SUFFIX3, WORD, Hashes, combine
from vicw_shared.language.weights import Weights, class_scores

RELATIONS = tuple(
    "acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop csubj det "
    "discourse expl fixed flat iobj mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent obl:unmarked "
    "parataxis punct root vocative xcomp".split()
)
BITS = 17
FEATURES = 24


def features(nodes: Nodes, head: Indices, words: Indices) -> Hashes:
    """Return what the model sees of each word in ``words`` (places among the nodes), shape (words, FEATURES)."""
    h, d = head[words], words
    side = ((h > d).astype(np.int64) + 2 * (nodes.tag[h] == ROOT)).astype(np.uint32)
    near = np.clip(np.abs(h - d), 0, 5).astype(np.uint32) * np.uint32(8) + side
    way, apart = combine(side + np.uint32(77)), combine(near + np.uint32(999))
    ht, dt = nodes.here[h], nodes.here[d]
    hw, dw = nodes.words[h, WORD], nodes.words[d, WORD]
    hs, ds = nodes.words[h, SUFFIX3], nodes.words[d, SUFFIX3]
    left, right, hl, hr = nodes.left[d], nodes.right[d], nodes.left[h], nodes.right[h]
    first, last = _ends(nodes, head)
    fd, fw, ld, fh = nodes.here[first[d]], nodes.words[first[d], WORD], nodes.here[last[d]], nodes.words[first[h], WORD]
    up = nodes.here[head[h]]
    parts = (
        (ht, dt, way), (ht, dt, apart), (dw, way), (dw, ht, way), (hw, dt, way), (hw, dw), (ht, ds, way), (hs, dt, way),
        (dt, left, way), (dt, right, way), (ht, dt, left, right, way), (dt, hl, hr, way), (dt, fd, way),
        (dt, fw, ht, way), (ht, dt, fd, ld, way), (ht, dt, fh, way), (dt, ht, up, way), (ht, dt, nodes.right2[d], way),
        (hs, ds, way),        (dw, right), (dw, left), (fw, hw, dt), (ds, fd, ht, way), (hw, dt, fd, way),
    )  # fmt: skip
    return np.stack([combine(np.uint32(number), *part) for number, part in enumerate(parts, 1)], axis=1)


def _ends(nodes: Nodes, head: Indices) -> tuple[Indices, Indices]:
    """Return every node's first and last dependent; the node itself where it has none."""
    places = np.arange(len(head))
    first, last = places.copy(), places.copy()
    words = np.flatnonzero(nodes.tag != ROOT)
    last[head[words]] = words
    first[head[words[::-1]]] = words[::-1]
    return first, last


def label(nodes: Nodes, head: Indices, weights: Weights) -> Indices:
    """Return the place in RELATIONS of each word's relation, words in order. ``weights``: (2 ** BITS, RELATIONS)."""
    words = np.flatnonzero(nodes.tag != ROOT)
    return class_scores(features(nodes, head, words), weights).argmax(axis=1)
