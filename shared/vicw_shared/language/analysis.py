"""From text to analysed sentences: words with their parts of speech, heads and relations.

All of it is linear models over hashed features (``docs/decisions/0013``): no download, a few megabytes, more than a
thousand sentences a second on one core. They are analysed many at a time; alone, each costs three times as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, pairwise

import numpy as np

from vicw_shared.language import arcs, decoding, proper, relations, tagger
from vicw_shared.language.batch import Batch, Indices, lay_out
from vicw_shared.language.hashing import Lexicon
from vicw_shared.language.model import LanguageModel, load_model
from vicw_shared.language.sentences import sentences
from vicw_shared.language.tokens import Span, tokenise
from vicw_shared.language.weights import pair_scores

_AT_ONCE = 256
_MOST_WORDS = 400
"""Words of one sentence; the rest of a longer one is another."""


type _Cut = tuple[int, Span, list[tuple[str, int, int]]]
"""A sentence before it is analysed: which text it is of, its span, its words with where they begin and end."""
type _Tagged = tuple[Sequence[_Cut], Batch, Indices]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence. ``head`` is the place of its head in the sentence, -1 for the root."""

    text: str
    start: int
    end: int
    tag: str
    head: int
    relation: str

    @property
    def lower(self) -> str:
        """Return the word in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: where it stands in its text, and its words, whose places count from the text's start."""

    span: Span
    words: tuple[Word, ...]


class Analyst:
    """Analyses English. Text in another language comes out cut into words, and wrongly tagged."""

    def __init__(self, model: LanguageModel | None = None) -> None:
        self._model = model or load_model()
        self._lexicon = Lexicon()

    def analyse(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """Return the sentences of each text, in order."""
        found: list[list[Sentence]] = [[] for _ in texts]
        tagged = [self._tagged(some) for some in batched(_cut(texts), _AT_ONCE)]
        _correct(tagged)
        for some, batch, tags in tagged:
            for (place, _, _), sentence in zip(some, self._analysed(some, batch, tags), strict=True):
                found[place].append(sentence)
        return found

    def _tagged(self, cut: Sequence[_Cut]) -> _Tagged:
        batch = lay_out([[word for word, _, _ in words] for _, _, words in cut], self._lexicon)
        return cut, batch, tagger.tag(batch, self._model.tags)

    def _analysed(self, cut: Sequence[_Cut], batch: Batch, tags: Indices) -> Iterator[Sentence]:
        nodes = arcs.Nodes.of(batch, tags)
        pairs = arcs.Pairs.of(nodes)
        head = decoding.heads(nodes, pairs, pair_scores(arcs.features(nodes, pairs), self._model.arcs))
        names = relations.label(nodes, head, self._model.relations).tolist()
        tag_list = tags.tolist()
        inside = head - np.repeat(nodes.starts, nodes.lengths + 1) - 1
        bounds = np.append(batch.firsts, len(tags)).tolist()
        for number, ((_, span, words), (first, last)) in enumerate(zip(cut, pairwise(bounds), strict=True)):
            heads = inside[first + number + 1 : last + number + 1].tolist()
            yield Sentence(
                span,
                tuple(
                    Word(text, start, end, tagger.TAGS[tag], above, relations.RELATIONS[name])
                    for (text, start, end), tag, above, name in zip(
                        words, tag_list[first:last], heads, names[first:last], strict=True
                    )
                ),
            )


def _correct(tagged: Sequence[_Tagged]) -> None:
    """Correct the tags of each text by all that it says: before words get heads, which depend on tags."""
    texts: dict[int, list[tuple[list[str], Indices]]] = {}
    for cut, batch, tags in tagged:
        ends = (batch.firsts + batch.lengths).tolist()
        for (place, _, words), first, end in zip(cut, batch.firsts.tolist(), ends, strict=True):
            texts.setdefault(place, []).append(([word for word, _, _ in words], tags[first:end]))
    for found in texts.values():
        for sentence, place, tag in proper.corrections([(words, tags.tolist()) for words, tags in found]):
            found[sentence][1][place] = tag


def _cut(texts: Sequence[str]) -> Iterator[_Cut]:
    for place, text in enumerate(texts):
        for span in sentences(text):
            words = [(w, span.start + s, span.start + e) for w, s, e in tokenise(text[span.start : span.end])]
            for some in batched(words, _MOST_WORDS):
                yield place, Span(some[0][1], some[-1][2]) if len(words) > _MOST_WORDS else span, list(some)
