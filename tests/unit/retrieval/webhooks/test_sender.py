"""Events reach their receivers, signed, at least once, and what none takes is kept and can be sent again."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support.processes.certificates import Authority
from support.processes.webhook_receiver import Arrived, WebhookReceiver, webhook_receiver
from support.stores.memory import Memory
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_retrieval.webhooks import service
from vicw_retrieval.webhooks.sender import MOST_DEAD, RETRIES, WebhookSender
from vicw_retrieval.webhooks.service import WebhookPorts
from vicw_runtime.webhooks.http_receiver import HttpWebhookReceiver
from vicw_shared.clock import now
from vicw_shared.errors import (
    InvalidInputError,
    LimitExceededError,
    MissingRecordError,
    StateConflictError,
    StorageFullError,
)
from vicw_shared.model.webhooks import Webhook, WebhookMessage
from vicw_shared.settings import WebhookSettings
from vicw_shared.wire.webhooks import NewWebhook

ON = WebhookSettings(enabled=True, allow_private=True, timeout_seconds=20, per_tenant=2)
SOON = (timedelta(milliseconds=50),) * 2


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as running:
        yield running


def ports(memory: Memory, settings: WebhookSettings = ON) -> WebhookPorts:
    return WebhookPorts(memory.standalone.graph, HttpWebhookReceiver(settings), settings)


async def made(memory: Memory, url: str, *kinds: str) -> Webhook:
    return await service.make_webhook(ports(memory), memory.tenant, NewWebhook(url=url, kinds=kinds))


async def stored(memory: Memory, hook: Webhook) -> Webhook:
    found = await memory.standalone.graph.webhooks.webhook(hook.id)
    assert found is not None
    return found


@asynccontextmanager
async def sending(
    memory: Memory,
    settings: WebhookSettings = ON,
    retries: tuple[timedelta, ...] = RETRIES,
    holder: str = "one",
) -> AsyncIterator[None]:
    receiver = HttpWebhookReceiver(settings)
    graph = memory.standalone.graph
    sender = WebhookSender(graph.webhooks, memory.standalone.retrieval_ports, receiver, holder, retries)
    task = asyncio.create_task(sender.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await receiver.close()


async def forget(memory: Memory, *contexts: str) -> None:
    """Erase contexts, by default the tenant."""
    eraser = Eraser(memory.standalone.graph, memory.standalone.indexes, memory.standalone.registry)
    chosen = ErasureSelection(memory.tenant, contexts=contexts, everything=not contexts)
    await eraser.run(await eraser.begin(chosen))


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        await asyncio.sleep(0.02)


async def until_stored(memory: Memory, hook: Webhook, condition: Callable[[Webhook], bool]) -> Webhook:
    deadline = time.monotonic() + 20
    while not condition(found := await stored(memory, hook)):
        assert time.monotonic() < deadline, f"it did not come to that: {found}"
        await asyncio.sleep(0.02)
    return found


async def test_events_arrive_signed_and_without_text(memory: Memory, receiver: WebhookReceiver) -> None:
    await memory.ingest({"text": "Before the hook."})
    hook = await made(memory, f"{receiver.url}/in?a=b")
    async with sending(memory):
        answer = await memory.ingest({"id": "a", "text": "The lighthouse is dark."}, {"text": "A ship waits."})
        await until(lambda: len(receiver.taken()) == 2)
        await memory.retract("a")
        await until(lambda: len(receiver.taken()) == 3)
    assert {one["uid"] for one in receiver.taken()[:2]} == {item.uid for item in answer.items}
    assert receiver.taken()[2]["kind"] == "retract"
    assert len(base64.b64decode(hook.secret.removeprefix("whsec_"))) == 32
    for one in receiver.requests:
        assert one.headers["webhook-signature"] == f"v1,{signatures([hook.secret], one)[0]}"
        assert abs(int(one.headers["webhook-timestamp"]) - time.time()) < 60
        assert (one.path, one.headers["host"]) == ("/in?a=b", receiver.url.removeprefix("http://"))
        assert b"lighthouse" not in one.body
    assert len({one.headers["webhook-id"] for one in receiver.requests}) == len(receiver.requests)
    assert (await stored(memory, hook)).messages == ()


def signatures(secrets: list[str], request: Arrived) -> list[str]:
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
    return [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]


async def test_the_old_secret_signs_as_well_until_it_ends(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url)
    new = await service.rotate_secret(ports(memory), memory.tenant, hook.id, timedelta(hours=1))
    newest = await service.rotate_secret(ports(memory), memory.tenant, hook.id, timedelta(hours=1))
    assert len({hook.secret, new.secret, newest.secret}) == 3
    async with sending(memory):
        await memory.ingest({"text": "The lighthouse is dark."})
        await until(lambda: len(receiver.requests) == 1)
        ended = await service.rotate_secret(ports(memory), memory.tenant, hook.id, timedelta())
        await memory.ingest({"text": "A ship waits."})
        await until(lambda: len(receiver.requests) == 2)
    for request, secrets in zip(receiver.requests, ([newest.secret, new.secret], [ended.secret]), strict=True):
        expected = " ".join(f"v1,{one}" for one in signatures(secrets, request))
        assert request.headers["webhook-signature"] == expected
    with pytest.raises(MissingRecordError):
        await service.rotate_secret(ports(memory), "other", hook.id, timedelta())
    assert newest.secret not in repr(ended), "the old one neither"


async def test_hooks_that_failed_together_do_not_come_back_together(memory: Memory, receiver: WebhookReceiver) -> None:
    hook, receiver.status = await made(memory, receiver.url), 500
    mark = (await stored(memory, hook)).mark
    messages = tuple(
        WebhookMessage(id=f"msg_{number}", body='{"data": []}', events=0, since=mark, next_at=mark)
        for number in range(9)
    )
    assert await memory.standalone.graph.webhooks.put(replace(await stored(memory, hook), messages=messages))
    pause, began = timedelta(minutes=5), now()
    async with sending(memory, retries=(pause,)):
        found = await until_stored(memory, hook, lambda one: all(message.tries for message in one.messages))
    pauses = [one.next_at - began for one in found.messages]
    assert all(pause <= one < 1.2 * pause + (now() - began) for one in pauses)
    assert max(pauses) - min(pauses) > (now() - began), "not the time of the tries alone"


async def test_a_receiver_proves_its_name_by_a_certificate(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def answer(host: str, *rest: Any, **named: Any) -> Any:
        return look_up("127.0.0.1" if host == "app.example.org" else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    for number in range(2):
        (tmp_path / str(number)).mkdir()
    known, unknown = Authority(tmp_path / "0"), Authority(tmp_path / "1")
    monkeypatch.setenv("SSL_CERT_FILE", str(known.path))
    certified = (known.server("app.example.org"), known.server("other.example.org"), unknown.server("app.example.org"))
    errors: list[str] = []
    for tls in certified:
        with webhook_receiver(tls) as receiver:
            hook = await made(memory, receiver.url.replace("127.0.0.1", "app.example.org"))
            async with sending(memory, retries=()):
                await memory.ingest({"text": "The lighthouse is dark."})
                await until_stored(memory, hook, lambda one: bool(one.dead or receiver.requests))
            errors += [one.error for one in (await stored(memory, hook)).dead]
            taken = len(receiver.requests)
        await service.remove_webhook(ports(memory), memory.tenant, hook.id)
        assert (taken, len(errors)) == ((1, 0) if tls is certified[0] else (0, certified.index(tls)))
    assert errors == ["no answer: ConnectError"] * 2


async def test_only_chosen_kinds_arrive(memory: Memory, receiver: WebhookReceiver) -> None:
    await made(memory, receiver.url, "retract")
    async with sending(memory):
        await memory.ingest({"id": "a", "text": "The lighthouse is dark."})
        await memory.retract("a")
        await until(lambda: bool(receiver.requests))
    assert [one["kind"] for one in receiver.taken()] == ["retract"]


async def test_what_happened_meanwhile_is_told_after_a_restart(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url)
    receiver.status = 503
    async with sending(memory):
        first = await memory.ingest({"text": "The lighthouse is dark."})
        await until(lambda: bool(receiver.requests))
        await until_stored(memory, hook, lambda one: [m.tries for m in one.waiting] == [1])
    second = await memory.ingest({"text": "A ship waits."})
    receiver.status, failed = 200, len(receiver.requests)
    async with sending(memory):
        await until(lambda: len(receiver.taken()) >= failed + 2)
        await until_stored(memory, hook, lambda one: not one.messages)
    tried, *_ = receiver.requests
    again = [one for one in receiver.requests if one.headers["webhook-id"] == tried.headers["webhook-id"]]
    assert len(again) == 2 and {one.body for one in again} == {tried.body}, "the same message, at each try"
    uids = {one["uid"] for one in receiver.taken()[failed:]}
    assert uids == {item.uid for answer in (first, second) for item in answer.items}


async def test_a_message_that_nobody_takes_dies_and_is_sent_again(memory: Memory, receiver: WebhookReceiver) -> None:
    assert timedelta(hours=24) < sum(RETRIES, timedelta()) < timedelta(hours=36)
    assert list(RETRIES) == sorted(RETRIES)
    hook = await made(memory, receiver.url)
    receiver.status = 500
    async with sending(memory, retries=SOON):
        answer = await memory.ingest({"text": "The lighthouse is dark."})
        await until_stored(memory, hook, lambda one: bool(one.dead))
        assert len(receiver.requests) == len(SOON) + 1
        (dead,) = await service.dead_messages(ports(memory), memory.tenant, hook.id)
        assert (dead.tries, dead.error) == (3, "answered 500")
        assert [one.uid for one in dead.events] == [item.uid for item in answer.items]
        for tenant, ids in (("other", None), (memory.tenant, ("msg_unknown",))):
            with pytest.raises(MissingRecordError):
                await service.replay(ports(memory), tenant, hook.id, ids)
        receiver.status = 200
        assert await service.replay(ports(memory), memory.tenant, hook.id, (dead.id,)) == 1
        await until_stored(memory, hook, lambda one: not one.messages)
    assert receiver.requests[-1].headers["webhook-id"] == dead.id
    assert await service.replay(ports(memory), memory.tenant, hook.id, None) == 0


async def test_the_dead_are_bounded(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await stored(memory, await made(memory, receiver.url))
    receiver.status = 500
    messages = tuple(
        WebhookMessage(id=f"msg_{number}", body='{"data": []}', events=0, since=hook.mark, next_at=hook.mark)
        for number in range(MOST_DEAD + 5)
    )
    assert await memory.standalone.graph.webhooks.put(replace(hook, messages=messages))
    async with sending(memory, retries=()):
        found = await until_stored(memory, hook, lambda one: not one.waiting)
    assert [one.id for one in found.dead] == [one.id for one in messages[-MOST_DEAD:]], "the latest stay"
    assert len(receiver.requests) == len(messages)


async def test_a_slow_receiver_holds_up_no_other(memory: Memory, receiver: WebhookReceiver) -> None:
    with webhook_receiver() as slow:
        slow.seconds = 30.0
        late = await made(memory, slow.url)
        await made(memory, receiver.url)
        async with sending(memory, ON.model_copy(update={"timeout_seconds": 25.0})):
            await memory.ingest({"text": "The lighthouse is dark."})
            await until(lambda: bool(slow.requests))
            await until(lambda: bool(receiver.requests))
            found = await until_stored(memory, late, lambda one: bool(one.messages))
    assert [one.tries for one in found.waiting] == [0], "its only try still goes on"


async def test_a_receiver_that_does_not_answer_in_time_is_tried_again(memory: Memory) -> None:
    with webhook_receiver() as slow:
        slow.seconds = 3.0
        hook = await made(memory, slow.url)
        async with sending(memory, ON.model_copy(update={"timeout_seconds": 0.5})):
            await memory.ingest({"text": "The lighthouse is dark."})
            found = await until_stored(memory, hook, lambda one: any(message.tries for message in one.messages))
    assert found.waiting[0].error == "no answer within 0.5 seconds"


async def test_a_redirect_is_not_followed(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, f"{receiver.url}/moved")
    async with sending(memory, retries=()):
        await memory.ingest({"text": "The lighthouse is dark."})
        found = await until_stored(memory, hook, lambda one: bool(one.dead))
    assert found.dead[0].error == "answered 307"
    assert [one.path for one in receiver.requests] == ["/moved"]


async def test_an_address_is_checked_again_when_it_is_connected_to(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url.replace("127.0.0.1", "localhost"))
    async with sending(memory, ON.model_copy(update={"allow_private": False}), retries=()):
        await memory.ingest({"text": "The lighthouse is dark."})
        found = await until_stored(memory, hook, lambda one: bool(one.dead))
    assert "special address" in found.dead[0].error
    assert receiver.requests == []


async def test_of_two_processes_one_delivers(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url)
    async with sending(memory, holder="one"):
        await until_stored(memory, hook, lambda one: one.holder == "one")
        async with sending(memory, holder="two"):
            await memory.ingest({"text": "The lighthouse is dark."})
            await until(lambda: bool(receiver.requests))
            await asyncio.sleep(2.5)
            assert (await stored(memory, hook)).holder == "one"
    assert len(receiver.taken()) == 1


async def test_a_hook_is_refused_while_they_are_off_and_beyond_the_limit(
    memory: Memory, receiver: WebhookReceiver
) -> None:
    request = NewWebhook(url=receiver.url)
    with pytest.raises(StateConflictError, match="VICW_WEBHOOKS_ENABLED"):
        await service.make_webhook(ports(memory, WebhookSettings()), memory.tenant, request)
    with pytest.raises(InvalidInputError, match="url"):
        await service.make_webhook(ports(memory, WebhookSettings(enabled=True)), memory.tenant, request)
    hooks = [await made(memory, receiver.url) for _ in range(2)]
    with pytest.raises(LimitExceededError, match="VICW_WEBHOOKS_PER_TENANT"):
        await made(memory, receiver.url)
    with pytest.raises(MissingRecordError):
        await service.remove_webhook(ports(memory), "other", hooks[0].id)
    await service.remove_webhook(ports(memory), memory.tenant, hooks[0].id)
    await made(memory, receiver.url)
    assert hooks[0].secret not in repr(hooks[0])


async def test_what_cannot_be_recorded_is_not_changed(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url)

    async def no_room(*_: object) -> None:
        raise StorageFullError("no room")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.standalone.graph, "write", no_room)
        for change in (
            service.make_webhook(ports(memory), memory.tenant, NewWebhook(url=receiver.url)),
            service.rotate_secret(ports(memory), memory.tenant, hook.id, timedelta(hours=1)),
            service.remove_webhook(ports(memory), memory.tenant, hook.id),
        ):
            with pytest.raises(StorageFullError):
                await change
    assert [one.secret for one in await memory.standalone.graph.webhooks.of_tenant(memory.tenant)] == [hook.secret]


async def test_an_erasure_drops_what_waits_and_the_rest_is_told_anew(memory: Memory, receiver: WebhookReceiver) -> None:
    hook = await made(memory, receiver.url)
    receiver.status = 500
    async with sending(memory):
        kept = await memory.ingest({"id": "a", "text": "The lighthouse is dark."}, context="Harbour")
        await memory.ingest({"id": "b", "text": "A ship waits."}, context="Bastion")
        await until_stored(memory, hook, lambda one: one.messages != () and "Bastion" in one.messages[-1].body)
        await forget(memory, "Bastion")
        assert "Bastion" not in (await stored(memory, hook)).dump()
        before, receiver.status = len(receiver.requests), 200

        def told() -> list[dict[str, Any]]:
            return [event for one in receiver.requests[before:] for event in one.events]

        uid = kept.items[0].uid
        await until(lambda: {uid, "erase"} <= {one[name] for one in told() for name in ("uid", "kind")})
    assert "Bastion" not in {one["context"] for one in told()}
    await forget(memory)
    assert await memory.standalone.graph.webhooks.ids() == []


async def test_a_name_is_resolved_once_for_each_request(
    memory: Memory, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    resolved = socket.getaddrinfo

    def answer(host: str, *args: Any, **fields: Any) -> Any:
        asked.append(host)
        if host == "app.example.org":
            host = "127.0.0.1"
        return resolved(host, *args, **fields)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    named = receiver.url.replace("127.0.0.1", "app.example.org")
    await made(memory, named)
    assert asked == ["app.example.org"]
    async with sending(memory):
        await memory.ingest({"text": "The lighthouse is dark."})
        await until(lambda: bool(receiver.requests))
    assert receiver.requests[0].headers["host"] == named.removeprefix("http://")
    assert asked.count("app.example.org") == 2, "what was checked is what was connected to"
