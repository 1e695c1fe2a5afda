"""Further stores of a set: two halves, each without the evidence of half of the questions, and many small contexts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vicw_bench.sets import FidelitySet, Question, Remembered

SMALL = "-small"
"""End of the name of a set of small contexts."""
SMALL_CONTEXTS = 60
"""Small contexts of a set."""
_SMALL = 10
"""Items of a small context."""


def without_evidence(data: FidelitySet) -> tuple[FidelitySet, FidelitySet]:
    """Return the set without the evidence of one half of its questions, and without that of the other.

    ``questions`` are those whose evidence is left out, all of it. Questions that share evidence are in the same half,
    and the halves are of nearly the same size.

    >>> without_evidence(FidelitySet("empty", (), (), "0"))[0].items
    ()
    """
    groups = _groups(data)
    sizes = Counter(groups)
    order = sorted(sizes, key=lambda group: (-sizes[group], hashlib.sha256(repr(group).encode()).digest()))
    side: dict[tuple[str, str], int] = {}
    filled = [0, 0]
    for group in order:
        side[group] = int(filled[1] < filled[0])
        filled[side[group]] += sizes[group]
    first, second = (_half(data, [side[group] == number for group in groups], number) for number in (0, 1))
    return first, second


def small_contexts(data: FidelitySet) -> FidelitySet:
    """Return a set of small contexts, each with the evidence of one question and others of its items, ten in all.

    Contexts are named by the question; questions with more evidence than that are left out.
    """
    items, questions = list[Remembered](), list[Question]()
    by_context: dict[str, list[Remembered]] = {}
    for entry in data.items:
        by_context.setdefault(entry.context, []).append(entry)
    chosen = [question for question in data.questions if len(question.relevant) < _SMALL]
    for question in evenly(chosen, SMALL_CONTEXTS):
        own = [entry for entry in by_context[question.context] if entry.item.id in question.relevant]
        rest = [entry for entry in by_context[question.context] if entry.item.id not in question.relevant]
        kept = [*own, *evenly(rest, _SMALL - len(own))]
        items += [replace(entry, context=question.id) for entry in kept]
        questions.append(question.model_copy(update={"context": question.id}))
    return replace(
        data,
        name=f"{data.name}{SMALL}",
        items=tuple(items),
        questions=tuple(questions),
        digest=f"{data.digest} small {[question.id for question in questions]}",
    )


def evenly[T](things: Sequence[T], most: int) -> list[T]:
    """Return so many at most, evenly from all of them.

    >>> evenly("abcdef", 3)
    ['a', 'c', 'e']
    """
    step = max(1.0, len(things) / most)
    return [things[int(number * step)] for number in range(min(most, len(things)))]


def _groups(data: FidelitySet) -> list[tuple[str, str]]:
    """Return, for each question, an item that stands for all that it shares evidence with, however indirectly."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(item: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(item, item) != item:
            item = parent[item]
        return item

    def items(question: Question) -> list[tuple[str, str]]:
        return [(question.context, one) for one in sorted(question.relevant)]

    for question in data.questions:
        first, *others = items(question)
        for other in others:
            parent[root(other)] = root(first)
    return [root(items(question)[0]) for question in data.questions]


def _half(data: FidelitySet, left_out: list[bool], number: int) -> FidelitySet:
    questions = tuple(question for question, out in zip(data.questions, left_out, strict=True) if out)
    gone = {(question.context, one) for question in questions for one in question.relevant}
    items = tuple(entry for entry in data.items if (entry.context, entry.item.id) not in gone)
    name = f"{data.name}-without-{number}"
    return replace(data, name=name, items=items, questions=questions, digest=f"{data.digest} without {sorted(gone)}")
