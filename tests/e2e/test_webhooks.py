"""Webhooks of a real server, by command and client: events arrive, also those of before a kill."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import VICW, Server, eventually
from support.processes.webhook_receiver import webhook_receiver
from vicw_client import VicwClient
from vicw_client.errors import BadRequestError, NotFoundError

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]


def vicw(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = server.environment | {"VICW_URL": server.url, "COLUMNS": "200"}
    return subprocess.run(
        [str(VICW), *arguments], capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def test_events_reach_a_receiver_also_after_a_kill(serve: Serve) -> None:
    on = {"VICW_WEBHOOKS_ENABLED": "true", "VICW_WEBHOOKS_ALLOW_PRIVATE": "true", "VICW_EMBEDDER": "none"}
    server = serve(**on)
    server.start()
    with webhook_receiver() as receiver:
        made = json.loads(vicw(server, "webhooks", "create", receiver.url, "--kind", "stored", "--json").stdout)
        with VicwClient(server.url) as client:
            (hook,) = client.webhooks().webhooks
            assert (hook.id, hook.url, hook.kinds) == (made["id"], receiver.url, ("stored",))
            with pytest.raises(BadRequestError, match="url"):
                client.create_webhook("ftp://app.example.org")
            with pytest.raises(NotFoundError):
                client.dead_messages("x")
            assert (client.dead_messages(hook.id).messages, client.replay(hook.id).count) == ((), 0)

        def come(uid: str, since: int = 0) -> None:
            def uids() -> set[str]:
                return {event["uid"] for one in receiver.requests[since:] for event in one.events}

            eventually(uids, lambda seen: uid in seen, 60, "the event arrives")

        def store(text: str) -> str:
            item = {"context": "Lock", "items": [{"text": text}]}
            answer = httpx.post(f"{server.url}/ingest", json=item, timeout=60, trust_env=False).raise_for_status()
            return str(answer.json()["items"][0]["uid"])

        first = store("The lock gate leaks.")
        come(first)
        receiver.status = 503
        second = store("The lock gate holds.")
        come(second)
        server.kill()
        receiver.status, failed = 200, len(receiver.requests)
        server.start()
        come(second, failed)
        table = vicw(server, "webhooks", "list").stdout
        assert made["id"] in table and made["secret"] not in table
        assert vicw(server, "webhooks", "delete", made["id"]).returncode == 0
        assert "No webhooks" in vicw(server, "webhooks", "list").stderr
        assert made["secret"] not in "".join(vicw(server, *words).stdout for words in (("stats",), ("audit",)))
