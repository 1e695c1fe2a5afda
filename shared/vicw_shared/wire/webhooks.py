"""``/webhooks``: receivers of the events of a tenant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Message, RawText, Timestamp, example
from vicw_shared.wire.events import Event
from vicw_shared.wire.examples import story

_WEBHOOK: JsonDict = {
    "id": story.WEBHOOK,
    "url": "https://app.example.org/memory",
    "kinds": ["stored", "erase"],
    "created_at": story.STORED_AT,
    "told_until": story.LATER_AT,
    "waiting": 0,
    "dead": 1,
}
Kind = Annotated[str, Field(pattern=r"^[a-z][a-z_/-]{0,39}$")]


class NewWebhook(Message):
    """A receiver to send events to."""

    model_config = example({"url": "https://app.example.org/memory", "kinds": ["stored", "erase"]})

    url: Annotated[RawText, Field(min_length=1, max_length=2000)] = Field(
        description="Address of the receiver, with http or https, on a public address of the network"
    )
    kinds: Annotated[tuple[Kind, ...], Field(max_length=40)] = Field((), description="Kinds of events; empty: all")


class ListedWebhook(Message):
    """A webhook without its secret."""

    id: str
    url: str
    kinds: tuple[str, ...]
    created_at: Timestamp
    told_until: Timestamp = Field(description="Time of the last event of which a message was made")
    waiting: int = Field(description="Messages that are not delivered yet, and still tried")
    dead: int = Field(description="Messages of which all tries failed")
    old_secret_until: Timestamp | None = Field(
        None, description="Until when the secret before this one signs as well; null: it does not"
    )
    error: str = Field("", description="How the last try of the oldest of these messages failed")


class MadeWebhook(ListedWebhook):
    """A webhook with its new secret, which signs what is sent; it is shown once."""

    model_config = example({**_WEBHOOK, "secret": "whsec_…"})

    secret: str = Field(repr=False)


class NewSecret(Message):
    """A new secret for a webhook. Until the old one has ended, each message has a signature by either."""

    model_config = example({"overlap_hours": 24})

    overlap_hours: Annotated[float, Field(ge=0, le=168)] = Field(
        24, description="How long the old secret signs as well; 0: it ends at once"
    )


class WebhookList(Message):
    """All webhooks of the tenant."""

    model_config = example({"webhooks": [_WEBHOOK]})

    webhooks: tuple[ListedWebhook, ...]


class DeadMessage(Message):
    """A message of which all tries failed. ``id`` is its header ``webhook-id``."""

    id: str
    since: Timestamp = Field(description="Time of its first event")
    tries: int
    error: str
    events: tuple[Event, ...]


class DeadMessages(Message):
    """The messages of a webhook that are not tried any more, the oldest first."""

    model_config = example(
        {
            "messages": [
                {
                    "id": "msg_2c8a71",
                    "since": story.STORED_AT,
                    "tries": 12,
                    "error": "answered 500",
                    "events": [
                        {
                            "id": story.EVENT,
                            "kind": "stored",
                            "at": story.STORED_AT,
                            "uid": story.BETRAYAL_UID,
                            "context": story.NOVEL,
                        }
                    ],
                }
            ]
        }
    )

    messages: tuple[DeadMessage, ...]


class WebhookReplay(Message):
    """Dead messages to send again."""

    model_config = example({"messages": ["msg_2c8a71"]})

    messages: Annotated[tuple[str, ...], Field(max_length=100)] | None = Field(
        None, description="Their ids; null: all of the webhook"
    )


class Replayed(Message):
    """How many messages are sent again."""

    model_config = example({"count": 1})

    count: int


class WebhookPayload(Message):
    """Body of a request to a receiver."""

    type: str = "events"
    timestamp: Timestamp = Field(description="When the message was made")
    data: tuple[Event, ...]
