"""What every store of webhooks must do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph
from vicw_shared.model.webhooks import Webhook, WebhookMessage


def hook_of(hook_id: str, tenant: str = "t") -> Webhook:
    return Webhook(
        id=hook_id,
        tenant=tenant,
        url="https://app.example.org/\U0001f98a`'\"",
        secret="whsec_x",
        kinds=("forget", "stored"),
        created_at=AT,
        mark=AT + timedelta(microseconds=1),
        held_until=AT,
    )


MESSAGE = WebhookMessage(id="msg_1", body='{"data":"\u2028"}', events=2, since=AT, next_at=AT + timedelta(hours=1))


async def test_a_hook_is_returned_as_it_was_stored(graph: Graph) -> None:
    store = graph.webhooks
    assert (await store.ids(), await store.webhook("a"), await store.of_tenant("t")) == ([], None, [])
    for hook in (hook_of("b"), hook_of("a"), hook_of("c", "u")):
        assert await store.put(hook)
    assert await store.ids() == ["a", "b", "c"]
    assert await store.of_tenant("t") == [replace(hook_of(one), revision=1) for one in ("a", "b")]
    messages = (MESSAGE, replace(MESSAGE, id="msg_2", tries=3, error="answered 500", dead=True))
    full = replace(hook_of("a"), revision=1, messages=messages, holder="h", held_until=AT + timedelta(minutes=1))
    full = replace(full, old_secret="whsec_y", old_until=AT + timedelta(days=1))
    assert await store.put(full)
    assert await store.webhook("a") == replace(full, revision=2)


async def test_only_the_stored_revision_is_replaced(graph: Graph) -> None:
    store = graph.webhooks
    assert await store.put(hook_of("a"))
    assert not await store.put(replace(hook_of("a"), url="https://other.example.org")), "it is no new one"
    stored = await store.webhook("a")
    assert stored is not None and stored.url == hook_of("a").url
    assert await store.put(replace(stored, holder="first"))
    assert not await store.put(replace(stored, holder="second"))
    assert (await store.of_tenant("t"))[0].holder == "first"
    assert not await store.put(replace(hook_of("a", "u"), revision=2)), "of another tenant"
    assert not await store.put(replace(hook_of("gone"), revision=1)), "one that was removed stays so"


async def test_a_tenant_removes_its_own_hooks(graph: Graph) -> None:
    store = graph.webhooks
    await store.put(hook_of("a"))
    assert not await store.remove("u", "a")
    assert await store.remove("t", "a")
    assert not await store.remove("t", "a")
    assert await store.ids() == []
