"""How well extraction without an LLM reads labelled sentences: causes, and who does what."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from statistics import fmean

from vicw_ingest.extraction.reading import Source
from vicw_ingest.extraction.rules.causes import CauseFinder
from vicw_ingest.extraction.rules.clauses import Clause, Phrases
from vicw_ingest.extraction.rules.reader import RulesReader
from vicw_shared.language.analysis import Analyst, Sentence
from vicw_shared.progress import Progress, silent
from vicw_standalone.bench.labelled import CauseSentence, Fact, FactSentence, joined, token_overlap

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
    """Shares of sentences whose first labelled subject and verb were read from the main clause."""

    sentences: int
    subject: float
    verb: float
    precision: float
    recall: float


def measure_causes(sentences: Sequence[CauseSentence], progress: Progress = silent) -> CauseScores:
    """Judge what the finder of causes says of each sentence; one that is cut in several counts once."""
    texts = [joined(sentence.text) for sentence in sentences]
    finder = CauseFinder()
    said = correct = 0
    judged: list[tuple[float, float, bool]] = []
    for text, sentence, analysed in zip(texts, sentences, _analysed(texts, "reading causes", progress), strict=True):
        found = [cause for cause in finder.find(analysed) if cause is not None]
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
    """Judge the main clause of each sentence: a subject that overlaps by half, and the verb."""
    texts = [joined(sentence.text) for sentence in sentences]
    verdicts: list[tuple[bool, bool]] = []
    for sentence, analysed in zip(sentences, _analysed(texts, "reading facts", progress), strict=True):
        main = next((found for one in analysed if (found := _main_clause(Phrases(one))) is not None), None)
        if main is not None and sentence.relations:
            verdicts.append(_judge_fact(*main, sentence.relations[0]))
    both = sum(subject and verb for subject, verb in verdicts)
    said = max(len(verdicts), 1)
    return FactScores(
        len(sentences),
        sum(subject for subject, _ in verdicts) / said,
        sum(verb for _, verb in verdicts) / said,
        both / said,
        both / max(len(sentences), 1),
    )


def _main_clause(phrases: Phrases) -> tuple[Phrases, Clause] | None:
    return next(((phrases, clause) for clause in phrases.clauses() if clause.subject is not None), None)


def _judge_fact(phrases: Phrases, clause: Clause, gold: Fact) -> tuple[bool, bool]:
    assert clause.subject is not None
    subject = token_overlap(phrases.text(clause.subject), joined(gold.subject)) >= 0.5
    main = phrases.words[clause.verb]
    said = [main] if main.tag == "VERB" else [phrases.words[place] for place in clause.verb_words]
    predicate = gold.predicate.lower().split()
    return subject, any(word.lower in predicate for word in said)


def _analysed(texts: Sequence[str], step: str, progress: Progress) -> Iterator[Sequence[Sentence]]:
    analyst = Analyst()
    for done, part in enumerate(batched(texts, _BATCH)):
        yield from analyst.analyse(part)
        progress(step, min((done + 1) * _BATCH, len(texts)), len(texts))


def sentences_per_second(texts: Sequence[str]) -> float:
    """Return how many sentences a second of processor time are read, all rules together."""
    sentences = sum(map(len, Analyst().analyse(texts)))
    reader, sources = RulesReader(), [Source(text, _AT) for text in texts]
    reader.read(sources[:50])
    started = time.process_time()
    reader.read(sources)
    return sentences / (time.process_time() - started)
