"""Events come over HTTP as they happen, to whoever may see them, and go on where a stream broke off."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import Server, run
from vicw_client import VicwClient
from vicw_client.errors import BadRequestError

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
CONTEXT = "Signal box"


class Stream:
    """An open stream; ``next`` waits for its next event."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()
        self.comments = 0
        self.place: str | None = None
        """Where a stream begins that is no resumed one."""

    def next(self) -> dict[str, Any]:
        fields: dict[str, str] = {}
        for line in self._lines:
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                data: dict[str, Any] = json.loads(fields["data"])
                assert (fields["id"], fields["event"]) == (data["id"], data["kind"])
                return data
            else:
                self.place, fields = fields.get("id"), {}
        raise EOFError


@contextmanager
def watching(http: httpx.Client, params: dict[str, Any] | None = None, **headers: str) -> Iterator[Stream]:
    with http.stream("GET", "/events", params=params, headers=headers, timeout=60) as answer:
        if answer.status_code == 200:
            assert answer.headers["content-type"].startswith("text/event-stream")
        else:
            answer.read()
        yield Stream(answer)


def told(http: httpx.Client, after: str, **params: Any) -> list[dict[str, Any]]:
    """Return all events since ``after``, from a stream that ends."""
    with watching(http, {"after": after, "follow": "false", **params}) as stream:
        events: list[dict[str, Any]] = []
        try:
            while True:
                events.append(stream.next())
        except EOFError:
            return events


def store(http: httpx.Client, *items: dict[str, Any], context: str = CONTEXT) -> list[str]:
    answer = http.post("/ingest", json={"context": context, "items": items}).raise_for_status()
    return [item["uid"] for item in answer.json()["items"]]


def test_what_happens_is_told_within_seconds_and_without_its_text(http: httpx.Client) -> None:
    with watching(http) as stream:
        (uid,) = store(http, {"id": "s1", "text": "The signal wire snapped."})
        began = time.monotonic()
        stored = stream.next()
        assert time.monotonic() - began < 10
        assert (stored["kind"], stored["uid"], stored["context"], stored["count"]) == ("stored", uid, CONTEXT, 1)
        patched = http.patch(
            "/items", params={"context": CONTEXT, "id": "s1"}, json={"tags": ["wire"]}
        ).raise_for_status()
        changed = stream.next()
        assert (changed["kind"], changed["uid"]) == ("changed", patched.json()["item"]["uid"])
        http.post("/items/retract", json={"context": CONTEXT, "ids": ["s1"]}).raise_for_status()
        retracted = stream.next()
        assert (retracted["kind"], retracted["uid"], retracted["count"]) == ("retract", None, 1)
    assert "wire" not in json.dumps([stored, changed, retracted])


def test_a_stream_is_resumed_behind_an_event(http: httpx.Client) -> None:
    with watching(http) as stream:
        store(http, {"text": "Points frozen."})
        last = stream.next()
        assert stream.place is not None and stream.place < last["id"]
    missed = store(http, {"text": "Points thawed."})
    with watching(http, **{"Last-Event-ID": last["id"]}) as stream:
        seen = [stream.next()["uid"]]
        while seen[-1] not in missed:
            seen.append(stream.next()["uid"])
        assert stream.place is None, "or each new attempt would begin a minute earlier"
    assert last["uid"] in seen, "what may have been late is sent again, by the same id"
    assert {*missed, last["uid"]} <= {event["uid"] for event in told(http, last["id"])}
    for headers, params in (({"Last-Event-ID": "x"}, None), ({}, {"after": "x"})):
        with watching(http, params, **headers) as stream:
            (problem,) = stream.answer.json()["errors"]
            assert (stream.answer.status_code, problem["field"]) == (422, "Last-Event-ID" if headers else "after")


def test_the_client_watches(http: httpx.Client, server: Server) -> None:
    before = f"{int((time.time() - 1) * 1e6)}-x"
    uids = store(http, {"text": "Semaphore raised."}, {"text": "Semaphore lowered."}, context="Box\u2028 3")
    with VicwClient(server.url) as vicw:
        since = {event.uid: event for event in vicw.events(after=before, follow=False)}
        assert [since[uid].context for uid in uids] == ["Box\u2028 3"] * 2
        following = vicw.events(after=before)
        assert set(uids) <= {next(following).uid for _ in since}
        (later,) = store(http, {"text": "Semaphore stuck."}, context="Box\u2028 3")
        assert next(event for event in following if event.uid not in since).uid == later
        with pytest.raises(BadRequestError, match="after"):
            next(vicw.events(after="x"))


def test_a_viewer_is_told_of_visible_items_alone(http: httpx.Client) -> None:
    hidden = {"text": "Ove is ill.", "about": ["Ove"], "sensitivity": "personal"}
    (open_uid, hidden_uid) = store(http, {"text": "The gate is open."}, hidden, context="Signal box 2")
    mark = f"{int((time.time() - 5) * 1e6)}-x"
    everything = {event["uid"] for event in told(http, mark)}
    assert {open_uid, hidden_uid} <= everything
    seen = told(http, mark, viewer="Ulf")
    assert open_uid in {event["uid"] for event in seen}
    assert hidden_uid not in {event["uid"] for event in seen}
    assert {event["kind"] for event in seen} <= {"stored", "changed"}


def client(server: Server, token: str) -> httpx.Client:
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)


def test_a_stream_is_of_its_keys_tenant_and_ends_with_the_key_and_the_server(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0", VICW_MAX_EVENT_STREAMS="2")
    server.start()
    ana, bob, writer = (
        run(server, "keys", "create", "--tenant", tenant, "--note", tenant, "--right", right).stdout.strip()
        for tenant, right in (("ana", "retrieve"), ("bob", "retrieve"), ("ana", "ingest"))
    )
    with client(server, ana) as anas, client(server, bob) as bobs, client(server, writer) as writers:
        with watching(writers) as refused:
            assert refused.answer.status_code == 403, "the right is retrieve"
        with watching(anas) as first, watching(anas), watching(bobs) as others:
            with watching(anas) as third:
                problem = third.answer.json()
                assert (third.answer.status_code, "VICW_MAX_EVENT_STREAMS" in problem["detail"]) == (429, True)
            (uid,) = store(writers, {"text": "Ana's own."})
            assert first.next()["uid"] == uid
            assert told(bobs, "0-x") == []
            listed = run(server, "keys", "list").stdout
            (key,) = [line.split()[0] for line in listed.splitlines() if "bob" in line]
            assert run(server, "keys", "revoke", key).returncode == 0
            with pytest.raises(EOFError):
                others.next()
            began = time.monotonic()
            assert server.stop(within=10) == 0
            assert time.monotonic() - began < 8, "nobody waits for who watches"
            with pytest.raises((EOFError, httpx.RemoteProtocolError)):
                first.next()
            assert first.comments >= 1, "a sign of life while nothing happens"
