"""Events of a tenant, read from what the store keeps anyway: its items by arrival, and its logs.

Each read returns what has come since the last one. Transactions do not end in the order of the times that they write,
so each round begins a moment before the last one did, and now and then a minute before: however long a slow reader held
it up, nothing is left out. What was returned before is known.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from vicw_core.changes import COUNT, ChangeKind
from vicw_core.filters.order import listing_place
from vicw_core.step_pages import place_before
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import ListingPlace, ListingQuery, MaintenanceStep, Outcome, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.wire.events import Event
from vicw_shared.wire.items import ViewerQuery

LATE = timedelta(seconds=60)
"""How long after the time that it writes a transaction may end, and be read all the same."""
_RECENT = timedelta(seconds=2)
_SWEEP = timedelta(seconds=15)
"""Time after which a round goes back to a minute before the last one that did."""
_PAGE = 500
_MOST_KNOWN = 20_000
_FIRST_UID = "00000000-0000-0000-0000-000000000000"
_PLACE = re.compile(r"(\d{1,16})-[\w-]{1,80}", re.ASCII)
_COUNTS = (COUNT, "items", "sources")
"""Details of a step that count what it was about."""
_OF_ITEMS = {ChangeKind.RETRACT, ChangeKind.ERASE, ChangeKind.SUPERSEDE}
_OF_ENTITIES = {ChangeKind.MERGE, ChangeKind.SPLIT, ChangeKind.IDENTIFY, ChangeKind.RENAME}
_TOLD = {*_OF_ITEMS, *_OF_ENTITIES}
"""Changes that are events. Of the others items and steps tell themselves, or they are not of what is stored."""


def moment_of(event_id: str, field_name: str) -> datetime:
    """Return the time of an event by its id. Raises InvalidInputError for what is no id of an event."""
    if (parts := _PLACE.fullmatch(event_id)) is None:
        raise InvalidInputError(FieldProblem(field_name, "is no id of an event", "Send the `id` of one, unchanged"))
    return from_us(int(parts[1]))


@dataclass(slots=True)
class EventReader:
    """Reads the events of a tenant from ``start`` on, of what its viewer may see.

    A viewer gets the events of items alone: logs do not tell whom a change was hidden from.
    """

    tenant: str
    viewer: ViewerQuery
    start: datetime
    _begun: datetime = field(init=False)
    _swept: datetime = field(init=False)
    _item: ListingPlace | None = field(default=None, init=False)
    _steps: dict[str | None, MaintenanceStep] = field(default_factory=dict, init=False)
    _held: list[Event] = field(default_factory=list, init=False)
    _known: OrderedDict[str, None] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        """Begin at ``start``, as if a round had begun then."""
        self._begun = self._swept = self.start

    @property
    def is_behind(self) -> bool:
        """Whether there is more to read at once."""
        return self._item is not None or bool(self._steps)

    async def read(self, ports: RetrievalPorts, now: datetime) -> list[Event]:
        """Return what is new, a bounded number at once. Raises UnavailableError."""
        scope = await viewer_scope(self.viewer, self.tenant, ports, None)
        if not self.is_behind:
            self._begin(now, with_logs=scope.audience is None)
        events, begin = self._held, self._least_place()
        if self._item is not None and self._item.key == begin:
            query = ListingQuery(scope=scope, order=ItemOrder.ARRIVAL, after=self._item)
            items = await ports.graph.list_items(query, _PAGE)
            self._item = listing_place(query.order, items[-1]) if len(items) == _PAGE else None
            events += _of_items(items)
        for task, place in list(self._steps.items()):
            if to_us(place.at) != begin:
                continue
            steps = await ports.graph.scan(
                Steps(tenant=self.tenant, task=task, oldest_first=True), after=place, limit=_PAGE
            )
            if len(steps) == _PAGE:
                self._steps[task] = steps[-1]
            else:
                del self._steps[task]
            events += _of_steps(steps)
        # What is later waits for what is yet to be read: who resumes behind it would get no more of that.
        end = self._least_place()
        told = [event for event in events if end is None or to_us(event.at) <= end]
        self._held = [event for event in events if end is not None and to_us(event.at) > end]
        return [event for event in sorted(told, key=lambda one: (one.at, one.id)) if self._is_new(event)]

    def _begin(self, now: datetime, *, with_logs: bool) -> None:
        """Go back to where a round of reads begins."""
        sweeps = now - self._swept >= _SWEEP
        since = max(self.start, self._swept - LATE if sweeps else self._begun - _RECENT)
        self._begun = now
        if sweeps:
            self._swept = now
        self._item = ListingPlace(to_us(since), -1, _FIRST_UID)
        self._steps = dict.fromkeys((AUDIT, None), place_before(since)) if with_logs else {}

    def _least_place(self) -> float | None:
        """Return from when on there is more to read, in microseconds; None: there is no more."""
        items = [] if self._item is None else [self._item.key]
        return min([*items, *(to_us(step.at) for step in self._steps.values())], default=None)

    def _is_new(self, event: Event) -> bool:
        if event.id in self._known:
            return False
        self._known[event.id] = None
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return True


def _of_items(items: Sequence[Node]) -> Iterator[Event]:
    for item in items:
        if not item.is_macro:  # the log tells of what consolidation made
            yield Event(
                id=f"{to_us(item.created_at)}-{item.uid}",
                kind="stored" if item.version == 1 else "changed",
                at=item.created_at,
                uid=item.uid,
                context=item.context,
            )


def _of_steps(steps: Sequence[MaintenanceStep]) -> Iterator[Event]:
    for step in steps:
        is_change = step.task == AUDIT
        if step.outcome is Outcome.REFUSED or (is_change and step.reason not in _TOLD):
            continue
        count = next((step.details[name] for name in _COUNTS if name in step.details), 1)
        kind = step.reason if is_change else "undo" if step.outcome is Outcome.UNDONE else step.task
        yield Event(
            id=f"{to_us(step.at)}-{step.id}",
            kind=kind,
            at=step.at.astimezone(UTC),
            uid=None if is_change else step.subject,
            context=step.context or None,
            count=count if isinstance(count, int) else 1,
        )
