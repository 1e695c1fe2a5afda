"""Analysis of texts into sentences of words with part-of-speech tags.

The tagger is a linear model over hashed features (``docs/decisions/0013``): no download, a few megabytes. Sentences are
analysed in batches, since one at a time each takes three times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, pairwise

from vicw_core.language.sentences import sentences
from vicw_english.tagging import proper_nouns, tagger
from vicw_english.tagging.hashing import Lexicon
from vicw_english.tagging.tagger import Indices, SentenceBatch, Weights, lay_out
from vicw_english.tagging.tokens import tokenise
from vicw_shared.text import Span

_BATCH = 256
_MAX_WORDS = 400
"""Maximum number of words in a sentence; a longer one is split."""


type _Cut = tuple[int, Span, list[tuple[str, int, int]]]
"""A sentence before tagging: the index of its text, its span, its words with start and end."""
type _Tagged = tuple[Sequence[_Cut], SentenceBatch, Indices]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence. ``tag`` is its part of speech (Universal Dependencies)."""

    text: str
    start: int
    end: int
    tag: str

    @property
    def lower(self) -> str:
        """Return the word in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its span and its words, both with offsets from the start of the text."""

    span: Span
    words: tuple[Word, ...]


class Analyst:
    """Analyses English. Text in another language is split into words, but the tags are wrong."""

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = tagger.load_weights() if weights is None else weights
        self._lexicon = Lexicon()

    def analyse(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """Return the sentences of each text, in order."""
        results: list[list[Sentence]] = [[] for _ in texts]
        tagged = [self._tagged(part) for part in batched(_cut(texts), _BATCH)]
        _correct(tagged)
        for part, batch, tags in tagged:
            bounds = pairwise([*batch.firsts.tolist(), len(tags)])
            for (number, span, words), (first, last) in zip(part, bounds, strict=True):
                named = zip(words, tags[first:last].tolist(), strict=True)
                results[number].append(Sentence(span, tuple(Word(*word, tagger.TAGS[tag]) for word, tag in named)))
        return results

    def _tagged(self, cut: Sequence[_Cut]) -> _Tagged:
        batch = lay_out([[word for word, _, _ in words] for _, _, words in cut], self._lexicon)
        return cut, batch, tagger.tag(batch, self._weights)


def _correct(tagged: Sequence[_Tagged]) -> None:
    """Correct the tags of each text in place, using all of its sentences."""
    texts: dict[int, list[tuple[list[str], Indices]]] = {}
    for cut, batch, tags in tagged:
        ends = (batch.firsts + batch.lengths).tolist()
        for (number, _, words), first, end in zip(cut, batch.firsts.tolist(), ends, strict=True):
            texts.setdefault(number, []).append(([word for word, _, _ in words], tags[first:end]))
    for tagged_sentences in texts.values():
        for sentence, word_index, tag in proper_nouns.corrections(
            [(words, tags.tolist()) for words, tags in tagged_sentences]
        ):
            tagged_sentences[sentence][1][word_index] = tag


def _cut(texts: Sequence[str]) -> Iterator[_Cut]:
    for number, text in enumerate(texts):
        for span in sentences(text):
            words = [(w, span.start + s, span.start + e) for w, s, e in tokenise(text[span.start : span.end])]
            for some in batched(words, _MAX_WORDS):
                yield number, Span(some[0][1], some[-1][2]) if len(words) > _MAX_WORDS else span, list(some)
