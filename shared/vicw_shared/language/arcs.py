"""Who depends on whom: first-order head selection (McDonald et al., 2005, features; Zhang et al., 2017, decoding).

Every word weighs every other word of its sentence, and the root, as its head, and takes the best. Rings, which that
allows, are opened where it costs least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicw_shared.language.batch import Batch, Indices, starts_of
from vicw_shared.language.hashing import SUFFIX3, WORD, Hashes, combine, hash_of
from vicw_shared.language.tagger import TAGS

BITS = 22
REACH = 28
"""How many words a head may be away; the root always may be the head."""

_TAG_HASHES = np.array([hash_of("T" + tag) for tag in (*TAGS, "<root>", "<pad>")], dtype=np.uint32)
ROOT, PAD = len(TAGS), len(TAGS) + 1
_VERBAL = tuple(TAGS.index(tag) for tag in ("VERB", "AUX"))
_PUNCT = TAGS.index("PUNCT")
_JOINING = tuple(TAGS.index(tag) for tag in ("CCONJ", "SCONJ"))
_ROOT_WORD = np.uint32(hash_of("<root>"))


@dataclass(frozen=True, slots=True)
class Nodes:
    """The words of a batch with a root before each sentence, and tags of the neighbours.

    Arrays over nodes (words and roots): ``tag`` as an index, ``words`` (nodes, COLUMNS), and the hashed tags
    ``here``, ``left``, ``right``, ``right2``. ``starts`` are the roots' places; ``lengths`` count words.
    """

    tag: Indices
    words: Hashes
    here: Hashes
    left: Hashes
    right: Hashes
    right2: Hashes
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, batch: Batch, tags: Indices) -> Nodes:
        """Return the nodes of a tagged batch."""
        lengths = batch.lengths
        starts = batch.firsts + np.arange(len(lengths))
        places = np.arange(len(tags)) + np.repeat(np.arange(len(lengths)), lengths) + 1
        total = len(tags) + len(lengths)
        tag = np.full(total, ROOT, dtype=np.int64)
        tag[places] = tags
        words = np.full((total, batch.words.shape[1]), _ROOT_WORD, dtype=np.uint32)
        words[places] = batch.words[batch.at]
        padded = np.full(total + 3, PAD, dtype=np.int64)
        padded[1 : total + 1] = tag
        # A sentence's last words must not see the next sentence, whose root stands there.
        after = np.where(padded[2:] == ROOT, PAD, padded[2:])
        right = _TAG_HASHES[after[:total]]
        over = np.where(after[:total] == PAD, PAD, after[1 : total + 1])
        left = np.where(tag == ROOT, _TAG_HASHES[PAD], _TAG_HASHES[padded[:total]])
        return cls(tag, words, _TAG_HASHES[tag], left, right, _TAG_HASHES[over], starts, lengths)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every dependent with every head it may have: places among the nodes, dependents in order."""

    heads: Indices
    dependents: Indices
    firsts: Indices
    """Where each dependent's pairs start."""

    @classmethod
    def of(cls, nodes: Nodes) -> Pairs:
        """Return the pairs within REACH, with the root as everybody's first candidate."""
        own = np.repeat(nodes.starts, nodes.lengths)
        number = np.arange(len(own)) - np.repeat(starts_of(nodes.lengths), nodes.lengths) + 1
        last = np.repeat(nodes.lengths, nodes.lengths)
        low, high = np.maximum(number - REACH, 1), np.minimum(number + REACH, last)
        counts = high - low + 1  # the root takes the place of the word itself
        firsts = np.cumsum(counts) - counts
        within = np.arange(int(counts.sum())) - np.repeat(firsts, counts)
        mine, lowest = np.repeat(number, counts), np.repeat(low, counts)
        head = within - 1 + lowest
        head += head >= mine
        head = np.where(within == 0, 0, head)
        base = np.repeat(own, counts)
        return cls(base + head, base + mine, firsts)


def features(nodes: Nodes, pairs: Pairs) -> list[Hashes]:
    """Return what the model sees of each pair: one array over the pairs for each feature."""
    h, d = pairs.heads, pairs.dependents
    context, between, way = _setting(nodes, h, d)
    n = nodes
    word, suffix = n.words[:, WORD], n.words[:, SUFFIX3]
    head = {
        "t": n.here,
        "w": word,
        "s": suffix,
        "lt": combine(n.left, n.here),
        "tr": combine(n.here, n.right),
        "ltr": combine(n.left, n.here, n.right),
        "wr": combine(word, n.right),
        "": np.zeros_like(word),
    }
    dependent = {
        **head,
        "trr": combine(n.here, n.right, n.right2),
        "lw": combine(n.left, word),
    }
    both = combine(context, between)
    settings = {"c": context, "b": between, "w": way, "cb": both, "": np.zeros_like(way)}
    seen = []
    with np.errstate(over="ignore"):
        for number, (one, two, where) in enumerate(_TEMPLATES, 1):
            salt = np.uint32(number * 0x61C88647 & 0xFFFFFFFF)
            # Mixed for the nodes, where it is cheap; a pair only adds them up.
            left = combine(salt, head[one])
            right = combine(salt + np.uint32(1), dependent[two])
            seen.append((left[h] + right[d] + settings[where]) * np.uint32(0x9E3779B1))
    return seen


_TEMPLATES = tuple(
    (*template.split("+"),)
    for template in (
        "t+t+c t+t+b w+t+c t+w+c w+w+ tr+lt+c lt+tr+c tr+tr+w lt+lt+w t+ltr+c ltr+t+c +w+c w+t+ t+w+ s+t+c t+s+c "
        "+t+cb w+t+b t+w+b +ltr+cb ltr+ltr+ w+s+ s+w+ s+s+c t+trr+c +wr+c +lw+c wr+t+ t+t+cb"
    ).split()
)


def _setting(nodes: Nodes, h: Indices, d: Indices) -> tuple[Hashes, Hashes, Hashes]:
    """Return, hashed, how far apart and on which side (or root), what stands between, and the side alone."""
    away = h - d
    far = np.minimum(np.abs(away), 11)
    far = np.where(far > 6, np.where(far > 10, 9, np.where(far > 8, 8, 7)), far)
    root = nodes.tag[h] == ROOT
    side = (away > 0).astype(np.int64) + 2 * root
    low, high = np.minimum(h, d), np.maximum(h, d)
    between = np.zeros(len(h), dtype=np.int64)
    for kinds in (_VERBAL, (_PUNCT,), _JOINING):
        count = np.cumsum(np.isin(nodes.tag, kinds))
        between = between * 4 + np.clip(count[high - 1] - count[low], 0, 3)
    return (
        combine((side * 16 + far + 1).astype(np.uint32)),
        combine((between * 4 + side + 1000).astype(np.uint32)),
        combine((side + 5000).astype(np.uint32)),
    )
