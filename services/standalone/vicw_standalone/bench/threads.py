"""How well the topics of a chat are kept apart where nobody names its flows: chats, each read by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from statistics import fmean

from vicw_ingest.plan.threads import ThreadTurn, matching_thread
from vicw_shared.progress import Progress
from vicw_standalone.bench.labelled import Line

_RECENT = 40
_AT = datetime(2026, 1, 1, tzinfo=UTC)


class SaidIn(Line):
    """A turn, and the thread that it is of."""

    speaker: str
    text: str
    thread: str


class LabelledChat(Line):
    """A chat, in order."""

    turns: tuple[SaidIn, ...]


@dataclass(frozen=True, slots=True)
class ThreadScores:
    """Means over chats, of pairs of turns: together rightly, of those put together and of those that belong together.

    ``together`` is the F1 of a reader that keeps nothing apart.
    """

    chats: int
    precision: float
    recall: float
    f1: float
    together: float


def measure_threads(chats: Sequence[LabelledChat], progress: Progress) -> ThreadScores:
    """Say of each turn, in order, which thread it goes on with, by what was said of those before it."""
    rows = []
    for done, chat in enumerate(chats, 1):
        labels = [turn.thread for turn in chat.turns]
        rows.append((*_scores(_threads(chat), labels), _scores([""] * len(labels), labels)[2]))
        progress("following threads", done, len(chats))
    return ThreadScores(
        len(rows), *(fmean(column) if rows else 0.0 for column in ([r[n] for r in rows] for n in range(4)))
    )


def _threads(chat: LabelledChat) -> list[str]:
    told: list[ThreadTurn] = []
    for number, turn in enumerate(chat.turns):
        said = ThreadTurn(None, turn.speaker, turn.text, _AT + timedelta(minutes=number))
        thread = matching_thread(said, told[-_RECENT:]) or str(number)
        told.append(ThreadTurn(thread, said.speaker, said.text, said.at))
    return [turn.thread or "" for turn in told]


def _scores(found: Sequence[str], labels: Sequence[str]) -> tuple[float, float, float]:
    """Return the precision, recall and F1 of the pairs that are in one thread."""
    pairs = list(combinations(range(len(labels)), 2))
    said = {pair for pair in pairs if found[pair[0]] == found[pair[1]]}
    true = {pair for pair in pairs if labels[pair[0]] == labels[pair[1]]}
    right = len(said & true)
    precision, recall = right / len(said) if said else 1.0, right / len(true) if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0
