"""What people said of an item: whether it was useful or wrong for a question.

It is one record of the item in the log of steps, bounded in size. So it is exported with the item's context, and erased
with the item; what a person said goes with that person.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from vicw_shared.model import Node
from vicw_shared.ports import MaintenanceStep, Outcome
from vicw_shared.ports.sleep import FEEDBACK

_USEFUL, _WRONG, _LATEST = "useful", "wrong", "latest"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ``verdict`` ("useful" or "wrong") on an item as an answer to ``query``. ``people``: uids of who gave it."""

    verdict: str
    query: str
    at: datetime
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemFeedback:
    """Numbers of verdicts on an item, and the latest judgements, the latest first."""

    useful: int = 0
    wrong: int = 0
    latest: tuple[Judgement, ...] = ()

    @classmethod
    def of(cls, step: MaintenanceStep | None) -> ItemFeedback:
        """Return what an item's record holds; None: nothing."""
        if step is None:
            return cls()
        given = step.details.get(_LATEST)
        return cls(
            _count(step.details.get(_USEFUL)),
            _count(step.details.get(_WRONG)),
            tuple(_judgements(given if isinstance(given, list) else [])),
        )

    def adding(self, judgement: Judgement, *, most: int) -> ItemFeedback:
        """Return the feedback with a judgement more; ``most`` judgements are kept, all are counted.

        It replaces a kept one of the same people on the same question, so that one sent twice counts once.
        """
        asked = judgement.query, judgement.people
        rest = self.without([one for one in self.latest if (one.query, one.people) == asked])
        return rest._counted(judgement.verdict, 1, (judgement, *rest.latest)[:most])

    def without(self, gone: Collection[Judgement]) -> ItemFeedback:
        """Return the feedback without these judgements."""
        left = self
        for one in gone:
            left = left._counted(one.verdict, -1, tuple(kept for kept in left.latest if kept != one))
        return left

    def record(self, item: Node, at: datetime) -> MaintenanceStep:
        """Return the record of an item's feedback, given last at an instant."""
        return MaintenanceStep(
            id=record_id(item.uid),
            tenant=item.tenant,
            context=item.context,
            task=FEEDBACK,
            outcome=Outcome.DONE,
            at=at,
            subject=item.uid,
            details=self.details(),
        )

    def details(self) -> dict[str, object]:
        """Return the fields of a record, as JSON."""
        latest = [
            {"verdict": one.verdict, "query": one.query, "at": one.at.isoformat(), "people": list(one.people)}
            for one in self.latest
        ]
        return {_USEFUL: self.useful, _WRONG: self.wrong, _LATEST: latest}

    def _counted(self, verdict: str, more: int, latest: tuple[Judgement, ...]) -> ItemFeedback:
        useful, wrong = (self.useful + more, self.wrong) if verdict == _USEFUL else (self.useful, self.wrong + more)
        return ItemFeedback(max(0, useful), max(0, wrong), latest)


def record_id(item: str) -> str:
    """Return the id of the record of an item's feedback, by the item's uid."""
    return f"feedback:{item}"


def without_judgements(step: MaintenanceStep, gone: Collection[Judgement]) -> MaintenanceStep:
    """Return a record without these judgements."""
    return replace(step, details=ItemFeedback.of(step).without(gone).details()) if gone else step


def _judgements(given: list[Any]) -> Iterator[Judgement]:
    for one in given:
        if isinstance(one, Mapping):
            people = one.get("people")
            yield Judgement(
                str(one.get("verdict")),
                str(one.get("query")),
                datetime.fromisoformat(str(one.get("at"))),
                tuple(map(str, people if isinstance(people, list) else ())),
            )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
