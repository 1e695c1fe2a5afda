"""Brings turns to VICW: in batches, once each, again and again while it is away, those it refuses put aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any

from vicw_client import _protocol
from vicw_client._protocol import Retry, Steps
from vicw_client.errors import BadRequestError, ServerFaultError, VicwClientError
from vicw_client.window.options import WindowOptions
from vicw_client.window.turns import Turn
from vicw_shared.wire.retrieve import RetrieveResponse

_REFUSED = frozenset({400, 413, 422})
"""What the turn itself is to blame for. 401, 403 and 404 blame the key or the address, which will be mended."""
_FAULTS = 5
"""So often may the server fail over a batch in a row before its first turn is tried alone, and then put aside."""
_QUERY_CHARS = 4000
_MOST_TRIES = 20  # beyond which no pause grows


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn that VICW refused, and why."""

    turn: Turn
    error: VicwClientError


class RetryGate:
    """Closed for a while after each failure, longer and longer, so that a chat does not wait for a server in vain."""

    def __init__(self, retry: Retry, now: Callable[[], float]) -> None:
        self.error: VicwClientError | None = None
        self._retry = retry
        self._now = now
        self._tries = 0
        self._until = 0.0

    def is_open(self) -> bool:
        """Tell whether it is time to try."""
        return self.error is None or self._now() >= self._until

    def passed(self) -> None:
        """Note a success."""
        self.error, self._tries = None, 0

    def failed(self, error: VicwClientError) -> None:
        """Note a failure."""
        pause = self._retry.pause(min(self._tries, _MOST_TRIES), getattr(error, "retry_after", None))
        self.error, self._tries, self._until = error, self._tries + 1, self._now() + pause.seconds


class Delivery:
    """The window's calls. ``failed`` are the turns put aside, by number; ``settled`` is told of those stored."""

    def __init__(
        self,
        options: WindowOptions,
        session: str,
        flow_id: str,
        retry: Retry,
        asked_at: str,
        now: Callable[[], float],
        settled: Callable[[Sequence[Turn]], None],
    ) -> None:
        self.failed: dict[int, FailedTurn] = {}
        self.storing = RetryGate(retry, now)
        self._asking = RetryGate(retry, now)
        self._options = options
        self._session = session
        self._flow_id = flow_id
        self._retry = retry
        self._asked_at = asked_at
        self._settled = settled
        self._faults = 0

    def item_id(self, turn: Turn) -> str:
        """Return the id that makes a second sending harmless."""
        return f"{self._session}-{turn.number}"

    def store(self, turns: Iterable[Turn], *, patient: bool) -> Steps[None]:
        """Send turns, oldest first, until all are stored or put aside, or the server is away.

        The patient wait and try as often as the client does; the others try once, unless a try was in vain just now.
        """
        if not (patient or self.storing.is_open()):
            return
        try:
            for batch in batched(turns, 1 if self._faults >= _FAULTS else self._options.batch):
                yield from self._send(batch, patient)
        except VicwClientError as error:
            self.storing.failed(error)
        else:
            self.storing.passed()

    def recall(self, query: str) -> Steps[RetrieveResponse | VicwClientError]:
        """Return what is remembered, or why nothing can be."""
        if self._asking.error is not None and not self._asking.is_open():
            return self._asking.error
        half = _QUERY_CHARS // 2
        short = query if len(query) <= _QUERY_CHARS else f"{query[:half]} {query[-half:]}"  # a question is at an end
        fields = {"context": self._options.context, "limit": 20, **self._options.retrieve, "query": short}
        try:
            answer = yield from _protocol.retrieve(
                None, fields, replace(self._retry, attempts=1), self._asked_at, self._options.timeout_seconds
            )
        except VicwClientError as error:
            if not isinstance(error, BadRequestError):  # that one is the question's own
                self._asking.failed(error)
            return error
        self._asking.passed()
        return answer

    def _send(self, batch: Sequence[Turn], patient: bool) -> Steps[None]:
        retry = self._retry if patient else replace(self._retry, attempts=1)
        timeout = None if patient else self._options.timeout_seconds
        try:
            yield from _protocol.ingest(None, self._request(batch), None, retry, timeout)
        except BadRequestError as error:
            if error.problem.status not in _REFUSED:
                raise
            if len(batch) == 1:
                self.failed[batch[0].number] = FailedTurn(batch[0], error)
                return
            half = len(batch) // 2
            yield from self._send(batch[:half], patient)
            yield from self._send(batch[half:], patient)
        except ServerFaultError as error:
            self._faults += 1
            if self._faults > _FAULTS and len(batch) == 1:
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
