"""Ports of webhooks: where they are kept, and the way to their receivers."""

from __future__ import annotations

from typing import Protocol

from vicw_shared.model.webhooks import Webhook, WebhookMessage


class Webhooks(Protocol):
    """Webhooks of all tenants. No export has them."""

    async def ids(self) -> list[str]:
        """Return the ids of all hooks."""
        ...

    async def webhook(self, hook_id: str) -> Webhook | None:
        """Return the hook with this id, or None."""
        ...

    async def of_tenant(self, tenant: str) -> list[Webhook]:
        """Return the hooks of a tenant, by id."""
        ...

    async def put(self, hook: Webhook) -> bool:
        """Store a new hook (``revision`` 0), or replace the one with this id if its revision is still the hook's.

        The stored revision is the next one. Return False, with nothing changed, if there is another revision, or none.
        """
        ...

    async def remove(self, tenant: str, hook_id: str) -> bool:
        """Remove a hook of a tenant; return whether there was one."""
        ...


class WebhookReceiver(Protocol):
    """The receivers of all hooks."""

    async def check(self, url: str) -> None:
        """Raise InvalidInputError, for the field ``url``, for an address that nothing is sent to."""
        ...

    async def send(self, hook: Webhook, message: WebhookMessage) -> str:
        """Return an empty text if the receiver took the message, else why not. Nothing of a receiver raises."""
        ...
