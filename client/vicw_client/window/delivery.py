"""Delivery of turns to VICW in batches, each stored once, with retries; refused turns are put aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any

from vicw_client import _protocol
from vicw_client._exchange import Retry, Steps
from vicw_client.errors import BadRequestError, ServerFaultError, VicwClientError
from vicw_client.window.options import WindowOptions
from vicw_client.window.turns import Turn
from vicw_shared.wire.retrieve import RetrieveResponse

_REFUSED_STATUSES = frozenset({400, 413, 422})
"""Statuses that the turn itself causes. 401, 403 and 404 mean a wrong key or address, which will be corrected."""
_MAX_FAULTS = 5
"""Server faults in a row after which turns are sent one by one, and a turn that fails again is put aside."""
_QUERY_CHARS = 4000
_MAX_TRIES = 20  # beyond it, pauses do not grow


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn that VICW refused, and why."""

    turn: Turn
    error: VicwClientError


class RetryGate:
    """Closed for a growing time after each failure, so that a chat does not wait for an unavailable server."""

    def __init__(self, retry: Retry, now: Callable[[], float]) -> None:
        self.error: VicwClientError | None = None
        self._retry = retry
        self._now = now
        self._tries = 0
        self._until = 0.0

    def is_open(self) -> bool:
        """Return whether the next attempt is due."""
        return self.error is None or self._now() >= self._until

    def passed(self) -> None:
        """Record a success."""
        self.error, self._tries = None, 0

    def failed(self, error: VicwClientError) -> None:
        """Record a failure."""
        pause = self._retry.pause(min(self._tries, _MAX_TRIES), getattr(error, "retry_after", None))
        self.error, self._tries, self._until = error, self._tries + 1, self._now() + pause.seconds


class Delivery:
    """The window's calls. ``failed`` are the turns put aside, by number; ``settled`` is called with those stored."""

    def __init__(
        self,
        options: WindowOptions,
        session: str,
        flow_id: str,
        retry: Retry,
        retrieve_base: str,
        now: Callable[[], float],
        settled: Callable[[Sequence[Turn]], None],
    ) -> None:
        self.failed: dict[int, FailedTurn] = {}
        self.storing = RetryGate(retry, now)
        self._recall_gate = RetryGate(retry, now)
        self._options = options
        self._session = session
        self._flow_id = flow_id
        self._retry = retry
        self._retrieve_base = retrieve_base
        self._settled = settled
        self._faults = 0

    def item_id(self, turn: Turn) -> str:
        """Return the item id of a turn, which makes a second sending harmless."""
        return f"{self._session}-{turn.number}"

    def store(self, turns: Iterable[Turn], *, patient: bool) -> Steps[None]:
        """Send turns, the oldest first, until all are stored or put aside, or the server is unavailable.

        ``patient``: with the client's timeout and retries. Otherwise once, and not while the gate is closed.
        """
        if not (patient or self.storing.is_open()):
            return
        try:
            for batch in batched(turns, 1 if self._faults >= _MAX_FAULTS else self._options.batch):
                yield from self._send(batch, patient)
        except VicwClientError as error:
            self.storing.failed(error)
        else:
            self.storing.passed()

    def recall(self, query: str) -> Steps[RetrieveResponse | VicwClientError]:
        """Return the answer of memory, or the error."""
        if self._recall_gate.error is not None and not self._recall_gate.is_open():
            return self._recall_gate.error
        half = _QUERY_CHARS // 2
        # The question is at either end of a long text.
        short = query if len(query) <= _QUERY_CHARS else f"{query[:half]} {query[-half:]}"
        fields = {"context": self._options.context, "limit": 20, **self._options.retrieve, "query": short}
        try:
            answer = yield from _protocol.retrieve(
                None, fields, replace(self._retry, attempts=1), self._retrieve_base, self._options.timeout_seconds
            )
        except VicwClientError as error:
            if not isinstance(error, BadRequestError):  # it concerns this question alone
                self._recall_gate.failed(error)
            return error
        self._recall_gate.passed()
        return answer

    def _send(self, batch: Sequence[Turn], patient: bool) -> Steps[None]:
        retry = self._retry if patient else replace(self._retry, attempts=1)
        timeout = None if patient else self._options.timeout_seconds
        try:
            yield from _protocol.ingest(None, self._request(batch), None, retry, timeout)
        except BadRequestError as error:
            if error.problem.status not in _REFUSED_STATUSES:
                raise
            if len(batch) == 1:
                self.failed[batch[0].number] = FailedTurn(batch[0], error)
                return
            half = len(batch) // 2
            yield from self._send(batch[:half], patient)
            yield from self._send(batch[half:], patient)
        except ServerFaultError as error:
            self._faults += 1
            if self._faults > _MAX_FAULTS and len(batch) == 1:
                self.failed[batch[0].number] = FailedTurn(batch[0], error)
            raise
        else:
            self._faults = 0
            for turn in batch:
                self.failed.pop(turn.number, None)
            self._settled(batch)

    def _request(self, batch: Sequence[Turn]) -> dict[str, Any]:
        return {
            **self._options.ingest,
            "context": self._options.context,
            "flow_id": self._flow_id,
            "wait": self._options.wait,
            "items": [self._item(turn) for turn in batch],
        }

    def _item(self, turn: Turn) -> dict[str, Any]:
        return {
            "subtype": "message",
            "metadata": {"role": turn.role},
            **self._options.item,
            "id": self.item_id(turn),
            "text": turn.text,
            "speaker": turn.name or self._options.speakers.get(turn.role, turn.role),
            "timestamp": turn.timestamp,
        }
