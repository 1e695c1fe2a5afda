"""How well extraction without an LLM reads labelled sentences: causes, and who does what."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from statistics import fmean

from vicw_bench.extraction.labelled import CauseSentence, Fact, FactSentence, joined, token_overlap
from vicw_english.agents import agents_of
from vicw_english.causes import causes_in
from vicw_english.extractor import EnglishExtractor
from vicw_english.names import names_in
from vicw_english.tagging.analysis import Analyst, Sentence, Word
from vicw_shared.model.extraction import SourceText
from vicw_shared.progress import Progress, silent

_BATCH = 100
_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CauseScores:
    """Shares of sentences. ``cause`` and ``effect`` are mean token overlaps with the nearest labelled pair, and
    ``direction`` says how often what is called the cause is the cause: of the causal sentences that were found.
    """

    sentences: int
    precision: float
    recall: float
    cause: float
    effect: float
    direction: float


@dataclass(frozen=True, slots=True)
class FactScores:
    """``found``: the share of sentences in which somebody does something; of these, what is labelled so."""

    sentences: int
    found: float
    subject: float
    verb: float
    both: float


def measure_causes(sentences: Sequence[CauseSentence], progress: Progress = silent) -> CauseScores:
    """Judge what the finder of causes says of each sentence; one that is cut in several counts once."""
    texts = [joined(sentence.text) for sentence in sentences]
    said = correct = 0
    judged: list[tuple[float, float, bool]] = []
    for text, sentence, analysed in zip(texts, sentences, _analysed(texts, "reading causes", progress), strict=True):
        found = [cause for cause in causes_in(analysed) if cause is not None]
        if not found:
            continue
        said += 1
        correct += sentence.causal
        if sentence.causal and sentence.relations:
            best = max(found, key=lambda cause: cause.certainty)
            cause, effect = (text[span.start : span.end] for span in (best.cause, best.effect))
            labelled = [(joined(r.cause), joined(r.effect)) for r in sentence.relations]
            judged.append(judge_pair(cause, effect, labelled, token_overlap))
    causal = sum(sentence.causal for sentence in sentences)
    return CauseScores(
        len(sentences),
        correct / max(said, 1),
        correct / max(causal, 1),
        *(fmean(column) if column else 0.0 for column in ([j[place] for j in judged] for place in range(3))),
    )


def judge_pair[T](
    cause: T, effect: T, labelled: Sequence[tuple[T, T]], overlap: Callable[[T, T], float]
) -> tuple[float, float, bool]:
    """Return the overlaps of cause and effect with the nearest labelled pair, and whether they are not swapped."""

    def fit(pair: tuple[T, T]) -> tuple[float, float]:
        straight = overlap(cause, pair[0]) + overlap(effect, pair[1])
        return straight, overlap(cause, pair[1]) + overlap(effect, pair[0])

    nearest = max(labelled, key=lambda pair: max(fit(pair)))
    straight, crossed = fit(nearest)
    return overlap(cause, nearest[0]), overlap(effect, nearest[1]), straight > crossed


def measure_facts(sentences: Sequence[FactSentence], progress: Progress = silent) -> FactScores:
    """Judge each sentence's first agent, a name or a pronoun: a labelled subject overlaps by half, the verb fits."""
    texts = [joined(sentence.text) for sentence in sentences]
    verdicts: list[tuple[bool, bool]] = []
    for sentence, analysed in zip(sentences, _analysed(texts, "reading facts", progress), strict=True):
        found = next((fact for one in analysed for fact in _facts(one)), None)
        if found is not None and sentence.relations:
            verdicts.append(max(_judge_fact(*found, gold) for gold in sentence.relations))
    said = max(len(verdicts), 1)
    return FactScores(
        len(sentences),
        len(verdicts) / max(len(sentences), 1),
        sum(subject for subject, _ in verdicts) / said,
        sum(verb for _, verb in verdicts) / said,
        sum(subject and verb for subject, verb in verdicts) / said,
    )


def _facts(sentence: Sentence) -> Iterator[tuple[str, Word]]:
    """Yield who does something in a sentence, as it is written, and the verb."""
    names = {place: name for name in names_in(sentence) for place in name.positions}
    words = sentence.words
    for agent, verb in agents_of(words, {place: name.positions for place, name in names.items()}):
        yield names[agent].text if agent in names else words[agent].text, words[verb]


def _judge_fact(subject: str, verb: Word, gold: Fact) -> tuple[bool, bool]:
    return token_overlap(subject, joined(gold.subject)) >= 0.5, verb.lower in gold.predicate.lower().split()


def _analysed(texts: Sequence[str], step: str, progress: Progress) -> Iterator[Sequence[Sentence]]:
    analyst = Analyst()
    for done, part in enumerate(batched(texts, _BATCH)):
        yield from analyst.analyse(part)
        progress(step, min((done + 1) * _BATCH, len(texts)), len(texts))


def sentences_per_second(texts: Sequence[str]) -> float:
    """Return how many sentences a second of processor time are read, all rules together."""
    sentences = sum(map(len, Analyst().analyse(texts)))
    reader, sources = EnglishExtractor(), [SourceText(text, _AT) for text in texts]
    reader.extract(sources[:50])
    started = time.process_time()
    reader.extract(sources)
    return sentences / (time.process_time() - started)
