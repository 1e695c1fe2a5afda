"""Pure analyser: the results of the rules for a question, as one intent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vicw_retrieval.intent.task_cues import TaskEvidence, strengths_of
from vicw_shared.wire.retrieve import Intent, Task

_FACTOR = 6.0
_NO_TASK = 4.0
"""Evidence for no task, where a single weak cue counts 6."""
_READ_CHARS = 2000
_NOW = re.compile(
    r"\b(?:currently|right now|at the moment|at present|presently|these days|nowadays|latest|newest|most recent(?:ly)?"
    r"|as of (?:now|today)|up[- ]to[- ]date|to date"
    r"|(?:is|are|am|do|does|have|has|can) (?:\w+ ){1,4}still"
    r"|(?:my|our|your|his|her|their|the|whose|what) current(?! (?:through|in amp\w+|flow\w*|of air))"
    r"|(?:is|are|am|do|does|have|has) [^.?!]{1,60} now(?=\W*$))\b"
)


_DATED = re.compile(r"\b(?:(?:19|20)\d\d|did|was|were|had)\b")
"""Words of another time, or of past actions."""


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The task of a question, its confidence in [0, 1], and whether the question asks for the current state."""

    task: Task | None = None
    confidence: float = 0.0
    now: bool = False

    def intent(self, domain: Intent) -> Intent:
        """Return a domain's intent with these values."""
        update = {"task": self.task, "task_confidence": round(self.confidence, 4), "now": self.now}
        return domain.model_copy(update=update)


def analyse_question(query: str) -> QuestionAnalysis:
    """Return the analysis of a question by its words."""
    task = task_of(query)
    return QuestionAnalysis(task.task, task.confidence, asks_for_now(query))


def task_of(query: str) -> TaskEvidence:
    """Return the likeliest task, with its share of all evidence in [0, 1]; none without evidence or on a tie.

    The evidence for a task is 6 to the strength of its words, that for none of them 4.

    >>> task_of("why did we decide to use Postgres?").task
    <Task.FIND_DECISION: 'find_decision'>
    >>> task_of("What did Ana eat on Friday?")
    TaskEvidence(task=None, confidence=0.0)
    """
    words = strengths_of(query)
    weights: dict[Task | None, float] = {None: _NO_TASK, **{task: _FACTOR ** words.get(task, 0.0) for task in Task}}
    best = max(weights, key=lambda task: weights[task])
    ties = sum(weight == weights[best] for weight in weights.values())
    if best is None or ties > 1:
        return TaskEvidence()
    return TaskEvidence(best, weights[best] / sum(weights.values()))


def asks_for_now(query: str) -> bool:
    """Return whether a question asks for the current state, so that the latest statement counts.

    >>> asks_for_now("Where does Ana currently live?"), asks_for_now("Where did Ana live in 2019?")
    (True, False)
    """
    words = query[:_READ_CHARS].casefold()
    return _NOW.search(words) is not None and _DATED.search(words) is None
