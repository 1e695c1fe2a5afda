"""From scores of pairs to one head for every word, without rings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicw_shared.language.arcs import Nodes, Pairs
from vicw_shared.language.batch import Indices, starts_of
from vicw_shared.language.weights import Scores

_NEVER = np.float32(1e9)
_JUMPS = 12
"""2 ** 12 is more steps to the root than any sentence has words."""


def heads(nodes: Nodes, pairs: Pairs, scores: Scores) -> Indices:
    """Return the head of every node, as a place among the nodes; a root is its own.

    Every sentence has one word that depends on its root.
    """
    scores = _one_root_each(nodes, pairs, scores)
    owners, winners = _best(pairs.firsts, scores)
    head = np.arange(len(nodes.tag))
    head[pairs.dependents[pairs.firsts[owners]]] = pairs.heads[winners]
    _open_rings(nodes, pairs, scores, head)
    return head


def _best(firsts: Indices, scores: Scores) -> tuple[Indices, Indices]:
    """Return the numbers of the stretches that start at ``firsts``, and where in each its highest score stands."""
    counts = np.diff(np.append(firsts, len(scores)))
    highest = np.repeat(np.maximum.reduceat(scores, firsts), counts)
    places = np.flatnonzero(scores == highest)
    stretches = np.repeat(np.arange(len(firsts)), counts)[places]
    owners, first = np.unique(stretches, return_index=True)
    return owners, places[first]


def _one_root_each(nodes: Nodes, pairs: Pairs, scores: Scores) -> Scores:
    """Leave the root, everybody's first pair, to the word of each sentence that gains most by it."""
    scores = scores.astype(np.float32)
    others = scores.copy()
    others[pairs.firsts] = -_NEVER
    gain = scores[pairs.firsts] - np.maximum.reduceat(others, pairs.firsts)
    _, winners = _best(starts_of(nodes.lengths), gain)
    others[pairs.firsts[winners]] = _NEVER
    return others


def _grounded(nodes: Nodes, head: Indices) -> npt.NDArray[np.bool_]:
    """Tell of every node whether its heads lead to the root."""
    ancestor = head
    for _ in range(_JUMPS):
        ancestor = ancestor[ancestor]
    grounded = np.zeros(len(head), dtype=bool)
    grounded[nodes.starts] = True
    return grounded[ancestor]


def _open_rings(nodes: Nodes, pairs: Pairs, scores: Scores, head: Indices) -> None:
    """Give one word of each ring the head outside it that costs least, until there is no ring."""
    while not (grounded := _grounded(nodes, head)).all():
        lost = np.flatnonzero(~grounded[pairs.dependents] & grounded[pairs.heads])
        dependents = pairs.dependents[lost]
        kept = _kept_scores(pairs, scores, head)
        cost = kept[dependents] - scores[lost]
        # One word a sentence and a turn: another one may be grounded by it.
        sentence = np.searchsorted(nodes.starts, dependents, side="right")
        order = np.lexsort((cost, sentence))
        _, cheapest = np.unique(sentence[order], return_index=True)
        chosen = lost[order[cheapest]]
        head[pairs.dependents[chosen]] = pairs.heads[chosen]


def _kept_scores(pairs: Pairs, scores: Scores, head: Indices) -> Scores:
    """Return, by dependent, the score of the head that it has now."""
    has = head[pairs.dependents] == pairs.heads
    kept = np.zeros(len(head), dtype=np.float32)
    kept[pairs.dependents[has]] = scores[has]
    return kept
