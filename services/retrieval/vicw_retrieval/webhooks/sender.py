"""Delivery of webhooks: a task for each hook, so that a slow receiver holds up no other.

Of several processes one delivers to a hook at a time: it holds the hook for a minute, and again before that is over.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import batched
from uuid import uuid4

import structlog

from vicw_retrieval.events.service import LATE, EventReader
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.model.webhooks import Webhook, WebhookMessage
from vicw_shared.ports import WebhookReceiver, Webhooks
from vicw_shared.wire.events import Event
from vicw_shared.wire.items import ViewerQuery
from vicw_shared.wire.webhooks import WebhookPayload

RETRIES = tuple(timedelta(seconds=s) for s in (5, 300, 1800, 7200, 18_000, 36_000, 36_000))
"""Pauses between the tries of a message, a little more than a day together."""
_JITTER = 0.2
"""Up to this share longer is a pause, so that hooks that failed together do not come back together."""
_HELD = timedelta(seconds=60)
_PAUSE_SECONDS = 1.0
_OUTAGE_SECONDS = 10.0
_LOOK_SECONDS = 2.0
_BATCH = 100
_MOST_UNTRIED = 10
_MOST_WAITING = 100
"""Messages not yet tried, and messages that wait, from which on no further events are read: the store has them."""
MOST_DEAD = 50
"""Dead messages of a hook that are kept, the latest ones."""
_log = structlog.get_logger()


@dataclass(slots=True)
class WebhookSender:
    """Delivers the webhooks of all tenants until it is cancelled. ``ports`` is called for each read of events.

    ``holder`` names the process. One that is the only one to have the store open keeps its name, and so goes on at once
    after a crash.
    """

    store: Webhooks
    ports: Callable[[], RetrievalPorts]
    receiver: WebhookReceiver
    holder: str = field(default_factory=lambda: uuid4().hex)
    retries: tuple[timedelta, ...] = RETRIES

    async def run(self) -> None:
        """Deliver for each hook that there is, as long as there is."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                with suppress(VicwError):  # the store does not answer: the tasks say so
                    ids = set(await self.store.ids())
                    for gone in tasks.keys() - ids:
                        tasks.pop(gone).cancel()
                    for hook_id in ids - tasks.keys():
                        work = _Delivery(self, hook_id).run()
                        tasks[hook_id] = asyncio.create_task(work, name=f"webhook {hook_id}")
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)


@dataclass(slots=True)
class _Delivery:
    """Delivery to one hook. ``reader`` goes on where the hook's mark is, as long as no other writer moves that."""

    sender: WebhookSender
    hook_id: str
    reader: EventReader | None = None
    mark: datetime | None = None

    async def run(self) -> None:
        """Make messages of events and send them, again and again."""
        while True:
            try:
                pause = 0.0 if await self._round() else _PAUSE_SECONDS
            except Exception as error:  # one hook must not end, and what is stored says where it goes on
                self.reader, pause = None, _OUTAGE_SECONDS
                shown = error.detail if isinstance(error, VicwError) else type(error).__name__
                _log.warning("a webhook waits", webhook=self.hook_id, error=shown)
            await asyncio.sleep(pause)

    async def _round(self) -> bool:
        """Send a message that is due, else read events; return whether there may be more to do at once."""
        at = now()
        hook = await self._held(at)
        if hook is None:
            return False
        due = min((one for one in hook.waiting if one.next_at <= at), key=lambda one: one.next_at, default=None)
        if due is not None:
            await self._send(hook, due)
            return True
        untried = sum(not one.tries for one in hook.waiting)
        if untried >= _MOST_UNTRIED or len(hook.waiting) >= _MOST_WAITING:
            return False
        if self.reader is None:
            start = max(hook.created_at, hook.mark - LATE)
            self.reader = EventReader(hook.tenant, ViewerQuery(), start)
        events = await self.reader.read(self.sender.ports(), at)
        if not events:
            return self.reader.is_behind
        told = [one for one in events if not hook.kinds or one.kind in hook.kinds]
        messages = tuple(_message(batch, at) for batch in batched(told, _BATCH))
        mark = max(hook.mark, events[-1].at)
        await self._put(replace(hook, mark=mark, messages=(*hook.messages, *messages)))
        return True

    async def _held(self, at: datetime) -> Webhook | None:
        """Return the hook as it is stored, if it is this process that delivers."""
        hook = await self.sender.store.webhook(self.hook_id)
        if hook is None or (hook.holder != self.sender.holder and hook.held_until > at):
            self.reader = None
            return None
        if hook.mark != self.mark:  # an erasure moved it back
            self.reader, self.mark = None, hook.mark
        if hook.holder == self.sender.holder and hook.held_until - at > _HELD / 2:
            return hook
        return await self._put(replace(hook, holder=self.sender.holder, held_until=at + _HELD))

    async def _send(self, hook: Webhook, message: WebhookMessage) -> None:
        error = await self.sender.receiver.send(hook, message)
        if not error:
            kept = tuple(one for one in hook.messages if one.id != message.id)
            await self._put(replace(hook, messages=kept))
            return
        tries, pauses = message.tries + 1, self.sender.retries
        is_dead = tries > len(pauses)
        pause = timedelta() if is_dead else pauses[tries - 1] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret
        tried = replace(message, tries=tries, error=error, dead=is_dead, next_at=now() + pause)
        _log.warning("a webhook was not delivered", webhook=hook.id, message=message.id, tries=tries, error=error)
        changed = replace(hook, messages=tuple(tried if one.id == tried.id else one for one in hook.messages))
        dropped = {one.id for one in changed.dead[:-MOST_DEAD]}
        await self._put(replace(changed, messages=tuple(one for one in changed.messages if one.id not in dropped)))

    async def _put(self, hook: Webhook) -> Webhook | None:
        """Store the hook and return it; None if another writer was faster, whose state the next round reads."""
        if not await self.sender.store.put(hook):
            self.reader = None
            return None
        self.mark = hook.mark
        return replace(hook, revision=hook.revision + 1)


def _message(events: tuple[Event, ...], at: datetime) -> WebhookMessage:
    body = WebhookPayload(timestamp=at, data=events).model_dump_json()
    return WebhookMessage(id=f"msg_{uuid4().hex}", body=body, events=len(events), since=events[0].at, next_at=at)
