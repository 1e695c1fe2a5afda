"""Use cases of ``/webhooks``: make, list and remove hooks, change secrets, and send again what no try delivered."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import uuid4

from vicw_core.changes import ChangeKind, record_change_now
from vicw_runtime.webhooks.signature import new_secret
from vicw_shared.clock import now
from vicw_shared.errors import LimitExceededError, MissingRecordError, OverloadedError, StateConflictError
from vicw_shared.model.webhooks import Webhook, WebhookMessage
from vicw_shared.ports import Store, WebhookReceiver, Webhooks
from vicw_shared.settings import WebhookSettings
from vicw_shared.wire.events import Event
from vicw_shared.wire.webhooks import DeadMessage, NewWebhook

_WRITES = 10
"""Tries to change a hook that a sender changes at the same time."""


@dataclass(frozen=True, slots=True)
class WebhookPorts:
    """What the use cases need."""

    graph: Store
    receiver: WebhookReceiver
    settings: WebhookSettings

    @property
    def store(self) -> Webhooks:
        """Where webhooks are kept."""
        return self.graph.webhooks


async def make_webhook(ports: WebhookPorts, tenant: str, request: NewWebhook, key: str | None = None) -> Webhook:
    """Store a webhook that gets the events from now on. ``key``: the id of the caller's key, for the record of changes.

    Raises StateConflictError while webhooks are off, InvalidInputError for its address, LimitExceededError.
    """
    if not ports.settings.enabled:
        raise StateConflictError("Webhooks are off: set VICW_WEBHOOKS_ENABLED to true, and start the server anew")
    await ports.receiver.check(request.url)
    if len(await ports.store.of_tenant(tenant)) >= ports.settings.per_tenant:
        raise LimitExceededError(
            f"webhooks: there are {ports.settings.per_tenant} already (VICW_WEBHOOKS_PER_TENANT). Remove one, or "
            "raise the limit"
        )
    at = now()
    hook = Webhook(
        id=uuid4().hex,
        tenant=tenant,
        url=request.url,
        secret=new_secret(),
        kinds=tuple(sorted(set(request.kinds))),
        created_at=at,
        mark=at,
        held_until=at,
    )
    # Before it is made: were this to fail after it, a secret would be in use that nobody was told.
    await record_change_now(ports.graph, tenant, ChangeKind.MAKE_WEBHOOK, key=key)
    await ports.store.put(hook)
    return hook


async def remove_webhook(ports: WebhookPorts, tenant: str, hook_id: str, key: str | None = None) -> None:
    """Remove a webhook with its messages, as ``key``. Raises MissingRecordError."""
    await _hook(ports, tenant, hook_id)
    await record_change_now(ports.graph, tenant, ChangeKind.REMOVE_WEBHOOK, key=key)
    if not await ports.store.remove(tenant, hook_id):
        raise _missing()


async def rotate_secret(
    ports: WebhookPorts, tenant: str, hook_id: str, overlap: timedelta, key: str | None = None
) -> Webhook:
    """Give a webhook a new secret, as ``key``; the old one signs as well during the ``overlap``.

    An even older one ends now. Raises MissingRecordError.
    """
    until = now() + overlap

    def rotated(hook: Webhook) -> Webhook:
        return replace(hook, secret=new_secret(), old_secret=hook.secret, old_until=until)

    await _hook(ports, tenant, hook_id)
    await record_change_now(ports.graph, tenant, ChangeKind.ROTATE_WEBHOOK, key=key)
    _, hook = await _change(ports, tenant, hook_id, rotated)
    return hook


async def dead_messages(ports: WebhookPorts, tenant: str, hook_id: str) -> list[DeadMessage]:
    """Return the messages that are not tried any more, the oldest first. Raises MissingRecordError."""
    return [_shown(one) for one in (await _hook(ports, tenant, hook_id)).dead]


async def replay(
    ports: WebhookPorts, tenant: str, hook_id: str, messages: tuple[str, ...] | None, key: str | None = None
) -> int:
    """Have dead messages (None: all) tried again from now on, as ``key``, and return how many.

    Raises MissingRecordError if there is no such hook, or one of ``messages`` is no dead one of its.
    """
    at = now()

    def revived(hook: Webhook) -> Webhook:
        chosen = {one.id for one in hook.dead} if messages is None else set(messages)
        if not chosen <= {one.id for one in hook.dead}:
            raise MissingRecordError(f"Some of these are no dead messages; GET /webhooks/{hook.id}/dead lists them")
        return replace(
            hook,
            messages=tuple(
                replace(one, dead=False, tries=0, next_at=at) if one.id in chosen else one for one in hook.messages
            ),
        )

    before, after = await _change(ports, tenant, hook_id, revived)
    if after != before:
        await record_change_now(ports.graph, tenant, ChangeKind.REPLAY, key=key)
    return len(before.dead) - len(after.dead)


async def _change(
    ports: WebhookPorts, tenant: str, hook_id: str, change: Callable[[Webhook], Webhook]
) -> tuple[Webhook, Webhook]:
    """Replace a hook by what ``change`` makes of it, and return both."""
    for _ in range(_WRITES):
        before = await _hook(ports, tenant, hook_id)
        after = change(before)
        if after == before or await ports.store.put(after):
            return before, after
    raise OverloadedError("webhooks: this one is changed all the time; send the request again")


async def _hook(ports: WebhookPorts, tenant: str, hook_id: str) -> Webhook:
    hook = await ports.store.webhook(hook_id)
    if hook is None or hook.tenant != tenant:
        raise _missing()
    return hook


def _missing() -> MissingRecordError:
    return MissingRecordError("There is no webhook with this id; GET /webhooks lists all webhooks")


def _shown(message: WebhookMessage) -> DeadMessage:
    events = tuple(Event.model_validate(one) for one in json.loads(message.body)["data"])
    return DeadMessage(id=message.id, since=message.since, tries=message.tries, error=message.error, events=events)
