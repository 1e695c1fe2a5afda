"""Webhooks of a tenant, with the messages that their receivers have yet to take."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

from vicw_shared.clock import from_us, to_us


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMessage:
    """One request to a receiver, the same at each try. ``since`` is the time of its first event.

    ``dead``: all tries failed; ``error`` says how the last one did.
    """

    id: str
    body: str
    events: int
    since: datetime
    next_at: datetime
    tries: int = 0
    error: str = ""
    dead: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A receiver of a tenant's events. ``kinds``: those that it gets; empty: all.

    Until ``old_until`` the secret before this one, ``old_secret``, signs as well.

    ``mark``: the time of the last event that has become a message. ``holder`` is the process that delivers, until
    ``held_until``. ``revision`` counts changes of what is stored; 0: nothing is yet.
    """

    id: str
    tenant: str
    url: str
    secret: str = field(repr=False)
    kinds: tuple[str, ...]
    created_at: datetime
    mark: datetime
    messages: tuple[WebhookMessage, ...] = ()
    old_secret: str = field(default="", repr=False)
    old_until: datetime | None = None
    holder: str = ""
    held_until: datetime
    revision: int = 0

    @property
    def waiting(self) -> list[WebhookMessage]:
        """The messages that are still tried, the oldest first."""
        return [one for one in self.messages if not one.dead]

    @property
    def dead(self) -> list[WebhookMessage]:
        """The messages that are not tried any more, the oldest first."""
        return [one for one in self.messages if one.dead]

    def secrets(self, at: datetime) -> list[str]:
        """Return the secrets that sign at an instant, the new one first."""
        is_old_valid = self.old_until is not None and at < self.old_until
        return [self.secret, *([self.old_secret] if is_old_valid else [])]

    def without_messages(self) -> Webhook:
        """Return the hook as if its events had not been read since the first one of a message.

        For an erasure: what is still stored is read again, and nothing else stays. The mark moves in any case, which
        tells a sender that what it has read is out of date.
        """
        since = min([self.mark, *(one.since for one in self.messages)])
        return replace(self, mark=since - timedelta(microseconds=1), messages=())

    def dump(self) -> str:
        """Return all but the id, the tenant and the revision as JSON."""
        values = asdict(self)
        for name in ("id", "tenant", "revision"):
            del values[name]
        return json.dumps(values, default=to_us)

    @classmethod
    def load(cls, hook_id: str, tenant: str, revision: int, body: str) -> Webhook:
        """Return the hook that ``dump`` wrote."""
        values = json.loads(body)
        for name in ("created_at", "mark", "held_until"):
            values[name] = from_us(values[name])
        if values.get("old_until") is not None:  # an earlier build stored none
            values["old_until"] = from_us(values["old_until"])
        messages = tuple(
            WebhookMessage(**(one | {"since": from_us(one["since"]), "next_at": from_us(one["next_at"])}))
            for one in values.pop("messages")
        )
        kinds = tuple(values.pop("kinds"))
        return cls(id=hook_id, tenant=tenant, revision=revision, kinds=kinds, messages=messages, **values)
