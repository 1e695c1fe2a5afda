"""The window without I/O: each step yields requests, as the client's own calls do."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vicw_client._exchange import Retry, Steps
from vicw_client._problems import refusal
from vicw_client.errors import NotStoredError, VicwClientError
from vicw_client.window.delivery import Delivery
from vicw_client.window.memory import MemoryForm, write_memory
from vicw_client.window.messages import read_message
from vicw_client.window.options import WindowOptions
from vicw_client.window.selection import Unit, newest, oldest_over, units_of
from vicw_client.window.spool import Spool
from vicw_client.window.tokens import Message, TokenMeter
from vicw_client.window.turns import Turn
from vicw_shared.errors import FieldProblem
from vicw_shared.text import visible
from vicw_shared.wire.retrieve import RetrieveResponse


class WindowCore:
    """State of a conversation: the turns in the window, which of them are stored, and the last answer of memory.

    Of a window that is too full, the oldest turns leave once they are stored, or put aside as refused.
    """

    def __init__(
        self,
        options: WindowOptions,
        retry: Retry,
        retrieve_base: str,
        *,
        now: Callable[[], float] = time.monotonic,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.options = options
        self.system = options.system
        self.memory: RetrieveResponse | None = None
        self.degraded: str | None = None
        self.closed = False
        self._meter = TokenMeter(options.count_tokens, options.message_tokens)
        self._form = MemoryForm(options.template, options.memory_role, options.context, options.zone)
        self._clock = clock
        self._spool = Spool(Path(options.spool), options.context, options.flow_id) if options.spool else None
        self._turns = list(self._spool.turns.values()) if self._spool else []
        self._next = self._spool.next_number if self._spool else 1
        self._stored = set(self._spool.stored) if self._spool else set()
        self._costs: dict[int, int] = {}
        session = self._spool.session if self._spool else uuid.uuid4().hex
        self.flow_id = self._spool.flow_id if self._spool else options.flow_id or session
        self.delivery = Delivery(options, session, self.flow_id, retry, retrieve_base, now, self._settle)

    def ask(self, text: str, name: str | None, timestamp: datetime | None, query: str | None) -> Steps[list[Message]]:
        """Record what the user says; return the messages to send to the model."""
        if not visible(text):
            raise refusal(FieldProblem("text", "is empty", "Give what the user says"))
        self._record({"role": "user", "content": text}, name, timestamp, field="text")
        yield from self._offload()
        yield from self._recall(query or text)
        return self.messages()

    def add(self, message: Mapping[str, Any], name: str | None, timestamp: datetime | None) -> Steps[None]:
        """Record any message; offload the oldest turns of a window that is too full."""
        self._record(message, name, timestamp, field="content")
        yield from self._offload()

    def flush(self) -> Steps[bool]:
        """Store every turn; they stay in the window. Return whether all are stored."""
        yield from self.delivery.store(self._waiting(self._turns), patient=True)
        self._leave(self._over())
        return not self.unstored()

    def retry_failed(self) -> Steps[bool]:
        """Send refused turns again. Return whether all are stored."""
        refused = [failed.turn for failed in self.delivery.failed.values()]
        yield from self.delivery.store(refused, patient=True)
        return not self.delivery.failed

    def finish(self) -> Steps[None]:
        """Store every turn and close. Raises NotStoredError if turns would be lost; then it stays open."""
        if self.closed:
            return
        yield from self.flush()
        if self._spool is not None:
            self._spool.close()
        elif unstored := self.unstored():
            raise NotStoredError(unstored, self.delivery.storing.error)
        self.closed = True

    def messages(self) -> list[Message]:
        """Return the messages to send to the model. Raises BadRequestError, with the reason, if that is impossible."""
        units, head = self._units(), self._head()
        room = self.options.budget - self._meter.total(head)
        last = units[-1].cost if units else 0
        if units and units[-1].open:
            missing = ", ".join(sorted(units[-1].open))
            raise refusal(FieldProblem("tool_calls", f"{missing} has no answer", "Add the tool's answer first"))
        if last > room:
            raise self._too_long("messages", last, room)
        memory = self._memory_within(min(int(self.options.memory_share * self.options.budget), room - last))
        shown = newest(units, room - self._meter.total(memory))
        turns = [turn for unit in shown for turn in unit.turns]
        # Before the newest question: the messages before it stay the same, so the model's prompt cache stays valid.
        place = max((n for n, turn in enumerate(turns) if turn.role == "user"), default=0)
        dialogue = [turn.message() for turn in turns]
        return [*head, *dialogue[:place], *memory, *dialogue[place:]]

    def cost(self, messages: Sequence[Message]) -> int:
        """Return the tokens of messages, counted as the budget is."""
        return self._meter.total(messages)

    def waiting(self) -> int:
        """Return the number of turns that are not stored yet, without refused ones."""
        return len(self._waiting(self._turns))

    def unstored(self) -> list[Turn]:
        """Return the turns that still have to be stored, including refused ones."""
        failed = [failed.turn for failed in self.delivery.failed.values()]
        return sorted([*self._waiting(self._turns), *failed], key=lambda turn: turn.number)

    def _record(self, message: Mapping[str, Any], name: str | None, timestamp: datetime | None, field: str) -> None:
        if self.closed:
            raise RuntimeError("the window is closed")
        turn = read_message(message, self._next, timestamp or self._tick(), name)
        self._costs[turn.number] = self._meter.cost(turn.message())
        if turn.role != "assistant":  # a reply has already been given; only input can be refused as too long
            self._require_room(turn, field)
        if self._spool is not None:
            self._spool.add(turn)
        self._turns.append(turn)
        self._next += 1

    def _tick(self) -> datetime:
        """Return the time, later than that of the last turn: with equal times, their order would be arbitrary."""
        now = self._clock()
        return max(now, self._turns[-1].timestamp + timedelta(microseconds=1)) if self._turns else now

    def _require_room(self, turn: Turn, field: str) -> None:
        unit = units_of([*self._turns, turn], self._cost)[-1]
        room = self.options.budget - self._meter.total(self._head())
        if unit.orphaned:
            raise refusal(
                FieldProblem("tool_call_id", f"{turn.tool_call_id} is not an open call", "Add the call before it")
            )
        if unit.cost > room:
            raise self._too_long(field, unit.cost, room)

    def _too_long(self, field: str, cost: int, room: int) -> VicwClientError:
        return refusal(
            FieldProblem(
                field,
                f"takes {cost} tokens; {room} are left of a window of {self.options.window_tokens}",
                "Shorten it, raise window_tokens, or lower reply_tokens",
            )
        )

    def _offload(self) -> Steps[None]:
        over = self._over()
        waiting = self._waiting([turn for unit in over for turn in unit.turns])
        if waiting:
            yield from self.delivery.store(waiting, patient=False)
        self._leave(over)

    def _over(self) -> list[Unit]:
        beside = self._meter.total(self._head())
        return oldest_over(self._units(), beside, self.options.high_mark, self.options.low_mark)

    def _leave(self, over: Sequence[Unit]) -> None:
        """Drop the oldest of these units, up to the first that is still waiting."""
        dropped: list[Turn] = []
        for unit in over:
            if self._waiting(unit.turns):
                break
            dropped += unit.turns
        numbers = {turn.number for turn in dropped}
        self._turns = [turn for turn in self._turns if turn.number not in numbers]
        self._stored -= numbers
        for number in numbers:
            self._costs.pop(number, None)
        if self._spool is not None:
            self._spool.note("left", numbers - self.delivery.failed.keys())

    def _settle(self, turns: Sequence[Turn]) -> None:
        numbers = {turn.number for turn in turns}
        in_window = numbers & {turn.number for turn in self._turns}
        self._stored |= in_window
        if self._spool is not None:
            self._spool.note("stored", in_window)
            self._spool.note("left", numbers - in_window)

    def _recall(self, query: str) -> Steps[None]:
        self.memory, self.degraded = None, None
        if self.options.memory_share:
            answer = yield from self.delivery.recall(query)
            if isinstance(answer, VicwClientError):
                self.degraded = f"{type(answer).__name__}: {answer}"
            else:
                self.memory = answer

    def _memory_within(self, room: int) -> list[Message]:
        if self.memory is None:
            return []
        known = {self.delivery.item_id(turn) for turn in self._turns}
        message = write_memory(self.memory, known, room, self._meter, self._form)
        return [message] if message is not None else []

    def _waiting(self, turns: Sequence[Turn]) -> list[Turn]:
        done = self._stored | self.delivery.failed.keys()
        remember = self.options.remember
        return [turn for turn in turns if turn.number not in done and turn.role in remember and turn.text]

    def _units(self) -> list[Unit]:
        return units_of(self._turns, self._cost)

    def _cost(self, turn: Turn) -> int:
        if turn.number not in self._costs:
            self._costs[turn.number] = self._meter.cost(turn.message())
        return self._costs[turn.number]

    def _head(self) -> list[Message]:
        return [{"role": "system", "content": self.system}] if self.system else []
