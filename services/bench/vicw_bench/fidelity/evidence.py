"""How much of the evidence stands in a text of so many characters: the answer's own, and what it is measured against.

A text is what a model gets to read. It has of an item the share of that item's runs of words that stand in it, so that
an item that is cut counts for what is left of it, however the text is laid out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from vicw_bench.sets import FidelitySet, Question
from vicw_bench.targets import Target
from vicw_shared.progress import Progress
from vicw_shared.wire.answer_format import Budget
from vicw_shared.wire.retrieve import Channel, RetrieveRequest, RetrieveResponse

_RUN = 5
"""Words of a run: a run of them in another item is seldom chance. A shorter text counts as a whole."""
_RESULTS = 100
_WORD = re.compile(r"\w+")
_BASELINES: Mapping[str, tuple[Channel, ...]] = {
    "top passages of dense": (Channel.DENSE,),
    "top passages of bm25": (Channel.BM25,),
    "top passages of both": (Channel.DENSE, Channel.BM25),
}


@dataclass(frozen=True, slots=True)
class Held:
    """What the texts of one way hold: ``share`` of the evidence's words, ``whole`` of the items with nine tenths of
    theirs, both means over questions in [0, 1]; ``chars`` is the median length of a text.
    """

    way: str
    share: float
    whole: float
    chars: float


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """One set: its questions' texts of at most ``budget`` characters, against all of a context."""

    name: str
    questions: int
    budget: int
    ways: tuple[Held, ...]


async def measure_evidence(target: Target, data: FidelitySet, budget: int, progress: Progress) -> EvidenceReport:
    """Ask every question in each way; the memory is filled."""
    texts = {(one.context, one.item.id): one.item.text for one in data.items}
    runs = {place: runs_of(text) for place, text in texts.items()}
    ways = []
    for name, channels in {"text of the answer": None, **_BASELINES}.items():
        written = []
        for question in data.questions:
            answer = await target.ask(_request(question, channels, budget))
            written.append(answer.text if channels is None else top_passages(answer, budget))
            progress(f"{data.name}: {name}", len(written), len(data.questions))
        ways.append(_held(name, data.questions, written, runs))
    whole: Counter[str] = Counter()
    for (context, _), text in texts.items():
        whole[context] += len(text)
    ways.append(Held("all of the context", 1.0, 1.0, median(whole[question.context] for question in data.questions)))
    return EvidenceReport(data.name, len(data.questions), budget, tuple(ways))


def top_passages(answer: RetrieveResponse, budget: int) -> str:
    """Return the best passages of an answer's results one after the other, cut at ``budget`` characters."""
    return "\n\n".join(result.text for result in answer.results)[:budget]


def runs_of(text: str) -> frozenset[str]:
    """Return the runs of words of a text, without case and marks; of a short one all of it, of one without words none.

    >>> sorted(runs_of("One, two: three four five six!"))
    [' one two three four five ', ' two three four five six ']
    """
    words = _WORD.findall(text.lower())
    starts = range(max(1, len(words) - _RUN + 1)) if words else ()
    return frozenset(f" {' '.join(words[start : start + _RUN])} " for start in starts)


def share_in(text: str, runs: frozenset[str]) -> float:
    """Return the share of ``runs`` (not empty) that stand in a text, in [0, 1].

    >>> share_in("It said: one two three four five.", runs_of("One, two: three four five six!"))
    0.5
    """
    words = f" {' '.join(_WORD.findall(text.lower()))} "
    return sum(run in words for run in runs) / len(runs)


def _held(
    way: str,
    questions: Sequence[Question],
    written: Sequence[str],
    runs: Mapping[tuple[str, str | None], frozenset[str]],
) -> Held:
    shares = [
        [share_in(text, of) for item in question.relevant if (of := runs.get((question.context, item)))]
        for question, text in zip(questions, written, strict=True)
    ]
    judged = [of_one for of_one in shares if of_one]
    return Held(
        way,
        share=fmean(fmean(of_one) for of_one in judged) if judged else math.nan,
        whole=fmean(fmean(share >= 0.9 for share in of_one) for of_one in judged) if judged else math.nan,
        chars=median(map(len, written)),
    )


def _request(question: Question, channels: tuple[Channel, ...] | None, budget: int) -> RetrieveRequest:
    return RetrieveRequest(
        query=question.query,
        context=question.context,
        domain=question.domain,
        limit=_RESULTS,
        channels=channels,
        query_time=question.query_time,
        budget=Budget(chars=budget),
    )
