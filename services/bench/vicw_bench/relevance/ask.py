"""Asks the questions of sets where their evidence is stored, where it was left out, and where they are foreign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vicw_bench.fidelity.measure import LIMIT
from vicw_bench.metrics import recall_at
from vicw_bench.relevance.sides import evenly
from vicw_bench.sets import FidelitySet, Question
from vicw_bench.targets import Target
from vicw_shared.progress import Progress
from vicw_shared.wire.retrieve import Answered, RetrieveRequest, RetrieveResponse


class Kind(StrEnum):
    """What is stored for a question."""

    OWN = "own"
    """Its evidence."""
    LEFT_OUT = "left out"
    """All of its set but its evidence."""
    FOREIGN = "foreign"
    """Another set, or other contexts."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with its relevance, and the signals of it and of its results, each with whether it is evidence.

    ``found`` is the share of the evidence among the results, 0 where none is stored. ``data`` is the name of the set.
    """

    data: str
    kind: Kind
    relevance: float
    answered: Answered
    signals: Mapping[str, float]
    results: Sequence[tuple[Mapping[str, float], bool]]
    found: float


async def ask_own(target: Target, data: FidelitySet, kind: Kind, name: str, progress: Progress) -> list[Judged]:
    """Ask a set's questions of a store of its items; ``kind`` says whether the evidence is among them."""
    judged = []
    for number, question in enumerate(data.questions, start=1):
        answer = await target.ask(_request(question, question.context, question.domain))
        judged.append(_judged(answer, name, kind, question))
        progress(f"{data.name}: asking", number, len(data.questions))
    return judged


async def ask_elsewhere(target: Target, data: FidelitySet, progress: Progress) -> list[Judged]:
    """Ask each question of a set of small contexts in another one's context, where its evidence is left out."""
    places = [question.context for question in data.questions]
    judged = []
    for number, question in enumerate(data.questions):
        place = places[(number + len(places) // 2) % len(places)]
        judged.append(
            _judged(await target.ask(_request(question, place, question.domain)), data.name, Kind.LEFT_OUT, None)
        )
        progress(f"{data.name}: asking elsewhere", number + 1, len(places))
    return judged


async def ask_foreign(
    target: Target, data: FidelitySet, others: Sequence[FidelitySet], most: int, progress: Progress
) -> list[Judged]:
    """Ask questions of the ``others``, ``most`` of each, of a store of ``data``, in its contexts in turn."""
    places = list({question.context: question.domain for question in data.questions}.items())
    asked = [question for other in others for question in evenly(other.questions, most)]
    judged = []
    for number, question in enumerate(asked):
        context, domain = places[number % len(places)]
        answer = await target.ask(_request(question, context, domain))
        judged.append(_judged(answer, data.name, Kind.FOREIGN, None))
        progress(f"{data.name}: asking questions of other sets", number + 1, len(asked))
    return judged


def _request(question: Question, context: str, domain: str | None) -> RetrieveRequest:
    return RetrieveRequest(
        query=question.query, context=context, domain=domain, limit=LIMIT, query_time=question.query_time, explain=True
    )


def _judged(answer: RetrieveResponse, name: str, kind: Kind, question: Question | None) -> Judged:
    assert answer.explain is not None and answer.explain.relevance is not None
    signals = answer.explain.relevance
    evidence = question.relevant if question is not None and kind is Kind.OWN else frozenset()
    results = [(signals.results[one.uid], one.id in evidence) for one in answer.results if signals.results[one.uid]]
    found = recall_at(LIMIT, [one.id or one.uid for one in answer.results], evidence) if evidence else 0.0
    return Judged(name, kind, answer.relevance, answer.answered, signals.answer, results, found)
