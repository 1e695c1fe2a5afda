"""What the model of causes sees of sentences: words, their neighbours, and the clauses they stand in.

Arrays over all words of some sentences, as everywhere in ``vicw_shared.language``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicw_shared.language.analysis import Sentence
from vicw_shared.language.batch import PADS, Indices, lay_out, starts_of
from vicw_shared.language.hashing import PREFIX5, SUFFIX3, WORD, Hashes, Lexicon, combine, hash_of
from vicw_shared.language.relations import RELATIONS
from vicw_shared.language.tagger import TAGS

_TAG = np.array([hash_of("T" + tag) for tag in (*TAGS, "<pad>")], dtype=np.uint32)
_RELATION = np.array([hash_of("R" + name) for name in (*RELATIONS, "<pad>")], dtype=np.uint32)
_TAG_NUMBER = {tag: number for number, tag in enumerate(TAGS)}
_RELATION_NUMBER = {name: number for number, name in enumerate(RELATIONS)}
_CLAUSAL = (
    "acl acl:relcl advcl advmod ccomp conj csubj nmod nsubj nsubj:pass obj obl obl:agent parataxis root xcomp".split()
)
_MARKING = "advmod case mark".split()
_NOBODY = np.uint32(hash_of("<nobody>"))
_CLIMB = 5
"""Doublings: 2 ** 5 words on the way up to a clause's head."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some sentences with room before and after each, as in ``Batch``.

    Over places: ``word``, ``prefix``, ``suffix``, ``tag``, ``relation``, ``marker`` (what marks the word, as
    ``because`` marks a clause's verb) are hashed, ``head`` is a place (a root's is its own). ``at`` are the words'.
    """

    at: Indices
    lengths: Indices
    word: Hashes
    prefix: Hashes
    suffix: Hashes
    tag: Hashes
    relation: Hashes
    marker: Hashes
    head: Indices
    clausal: np.ndarray[tuple[int], np.dtype[np.bool_]]
    verbs: Indices

    @classmethod
    def of(cls, sentences: Sequence[Sentence], lexicon: Lexicon) -> Words:
        """Return the words of these sentences."""
        batch = lay_out([[word.text for word in sentence.words] for sentence in sentences], lexicon)
        every = [word for sentence in sentences for word in sentence.words]
        places, at = len(batch.words), batch.at
        tags = np.full(places, len(TAGS))
        tags[at] = [_TAG_NUMBER[word.tag] for word in every]
        relations = np.full(places, len(RELATIONS))
        relations[at] = [_RELATION_NUMBER[word.relation] for word in every]
        above = np.array([word.head for word in every])
        first = at[np.repeat(batch.firsts, batch.lengths)]
        head = np.arange(places)
        head[at] = np.where(above < 0, at, first + above)
        word = batch.words[:, WORD]
        marker = np.full(places, _NOBODY, dtype=np.uint32)
        marking = np.flatnonzero(np.isin(relations, [_RELATION_NUMBER[name] for name in _MARKING]))
        marking = marking[marking < head[marking]][::-1]  # the first one is set last
        marker[head[marking]] = word[marking]
        return cls(
            at,
            batch.lengths,
            word,
            batch.words[:, PREFIX5],
            batch.words[:, SUFFIX3],
            _TAG[tags],
            _RELATION[relations],
            marker,
            head,
            np.isin(relations, [_RELATION_NUMBER[name] for name in _CLAUSAL]),
            (tags == _TAG_NUMBER["VERB"]).astype(np.int64),
        )

    def clause(self, of: Indices) -> Indices:
        """Return, for places, the nearest word upwards that heads a clause or an argument."""
        step = np.where(self.clausal, np.arange(len(self.head)), self.head)
        for _ in range(_CLIMB):
            step = step[step]
        return step[of]

    @property
    def firsts(self) -> Indices:
        """Return which of the words each sentence starts with."""
        return starts_of(self.lengths)


def sentence_signs(words: Words) -> Hashes:
    """Return what speaks for a cause in a sentence: features of each of its words, shape (words, features)."""
    w, t, i = words.word, words.tag, words.at
    h, r, m = words.head[i], words.relation[i], words.marker[i]
    side = (h > i).astype(np.uint32)
    one, two = i + 1, i + 2
    length = np.repeat(np.minimum(words.lengths // 6, 8), words.lengths).astype(np.uint32)
    verbs = np.add.reduceat(words.verbs[i], words.firsts)
    verbs_of = np.repeat(np.minimum(verbs, 6), words.lengths).astype(np.uint32)
    parts = (
        (w[i],), (w[i], w[one]), (w[i], t[one]), (t[i], w[one]), (w[i], w[one], w[two]), (w[i], t[one], t[two]),
        (t[i], w[one], t[two]), (t[i], t[one], t[two]), (words.prefix[i],), (r, t[h], t[i]), (r, w[i]), (r, w[h]),
        (m, r, t[h]), (m, w[i]), (m, w[h]), (m, r, t[i], t[h]), (m, words.prefix[h]), (r, words.suffix[i], t[h]),
        (words.prefix[i], words.prefix[h], r), (r, t[h], t[i], side, m), (length,), (verbs_of,),
    )  # fmt: skip
    return np.stack([combine(np.uint32(number), *part) for number, part in enumerate(parts, 1)], axis=1)


def word_signs(words: Words) -> Hashes:
    """Return what speaks for a word being inside a cause or an effect, shape (words, features)."""
    w, t, r, m, i = words.word, words.tag, words.relation, words.marker, words.at
    own = words.clause(i)
    above = words.clause(words.head[own])
    top = words.clause(words.head[above])
    number = np.arange(len(i)) - np.repeat(words.firsts, words.lengths)
    quarter = (4 * number // np.repeat(words.lengths, words.lengths)).astype(np.uint32)
    parts: list[tuple[Hashes, ...]] = [(w[i],), (t[i],), (r[i],), (quarter,)]
    parts += [(column[i + away],) for away in (-2, -1, 1, 2) for column in (w, t)]
    parts += [
        (r[own], m[own]), (m[own], words.prefix[words.head[own]]), (r[above], m[above], r[own], m[own]),
        (words.prefix[above], r[own], m[own]), (r[top], m[top], r[above], m[above]), (words.prefix[own], m[own]),
    ]  # fmt: skip
    seen = [combine(np.uint32(number), *part) for number, part in enumerate(parts, 1)]
    # The same feature at any height: that a word is somewhere below "because" is what matters.
    for place in (own, above, top):
        side = (place < words.head[place]).astype(np.uint32)
        seen.append(combine(np.uint32(99), r[place], m[place], side))
    return np.stack(seen, axis=1)


def edge_signs(words: Words) -> Hashes:
    """Return what speaks for a cut before each word and, last in a sentence, behind it.

    Shape (words + sentences, features).
    """
    w, t, r = words.word, words.tag, words.relation
    starts = words.at[words.firsts]
    total = len(words.at) + len(words.lengths)
    cut = np.arange(total) + np.repeat(starts - (words.firsts + np.arange(len(starts))), words.lengths + 1)
    left, right = cut - 1, cut
    parts = (
        (w[left],), (w[right],), (w[left], w[right]), (t[left], t[right]), (w[left - 1], w[left]),
        (w[right], w[right + 1]), (r[left],), (r[right],), (r[left], r[right]), (w[left], t[right]),
        (t[left], w[right]),
    )  # fmt: skip
    return np.stack([combine(np.uint32(number), *part) for number, part in enumerate(parts, 1)], axis=1)


assert PADS >= 2, "features look two words past a sentence's ends"
