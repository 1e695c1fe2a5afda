"""Clients that write while processes are killed, and remember what was acknowledged.

A writer repeats each request until it is acknowledged, as a client should; so when all have stopped, exactly one
live item has to exist for each token in ``alive``, and none for a token in ``replaced``.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from support.clients.thread import Client

_CONSONANTS = "bcdfghjklmnpqrtvwxz"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_RETRY_SECONDS = 0.2


@dataclass
class Ledger:
    """What has been acknowledged so far, by the unique word in each item's text."""

    alive: dict[str, str | None] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    retried: int = 0
    acknowledged: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, items: Sequence[Mapping[str, Any]], replaced: Set[str], retries: int) -> None:
        with self._lock:
            texts = {item["text"].split()[1]: item["text"] for item in items}
            self.texts.update(texts)
            self.alive.update(zip(texts, (item["id"] for item in items), strict=True))
            for token in replaced:
                del self.alive[token]
            self.replaced |= replaced
            self.retried += retries
            self.acknowledged += 1


class Writer(Client):
    """One client thread. ``address`` tells where the server is at the moment; each request has the ``headers``."""

    def __init__(
        self,
        kind: str,
        seed: int,
        ledger: Ledger,
        address: Callable[[], str],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"writer-{kind}-{seed}", headers, (0.02, 0.15))
        self.request: Callable[[], None] = getattr(self, f"_{kind}")
        self._prefix = f"{kind}-{seed}"
        self._ledger = ledger
        self._address = address
        self._sent = 0
        self._versions: dict[str, str] = {}

    def _fresh(self) -> None:
        """Items with ids of their own, in one of two flows of one context."""
        items = [self._item(f"{self._prefix}-{self._next()}") for _ in range(self.random.randint(1, 4))]
        flow = self.random.choice(["upstream", "downstream"])
        self._acknowledged({"context": "shared", "flow_id": flow, "items": items})

    def _late(self) -> None:
        """Items with times anywhere in the past, so that each goes into the middle of both chains."""
        items = [self._item(f"{self._prefix}-{self._next()}", self._time()) for _ in range(self.random.randint(1, 3))]
        self._acknowledged({"context": "shared", "flow_id": "downstream", "items": items})

    def _keyed(self) -> None:
        """Items without an id: only the Idempotency-Key tells a repetition from a new item."""
        items = [self._item(None) for _ in range(self.random.randint(1, 2))]
        self._acknowledged({"context": "shared", "flow_id": "upstream", "items": items}, key=str(uuid.uuid4()))

    def _updates(self) -> None:
        """Few ids, again and again with another text."""
        known = f"{self._prefix}-{self.random.randrange(6)}"
        item = self._item(known, self._time() if self.random.random() < 0.5 else None)
        replaced = {self._versions[known]} if known in self._versions else set()
        self._versions[known] = item["text"].split()[1]
        self._acknowledged({"context": "shared", "flow_id": "edited", "items": [item]}, replaced=replaced)

    def _next(self) -> int:
        self._sent += 1
        return self._sent

    def _time(self) -> str:
        return (_START + timedelta(seconds=self.random.randrange(10_000_000))).isoformat()

    def _item(self, item_id: str | None, timestamp: str | None = None) -> dict[str, Any]:
        token = "".join(self.random.choices(_CONSONANTS, k=14))
        return {"id": item_id, "text": f"Word {token} was written by {self._prefix}.", "timestamp": timestamp}

    def _acknowledged(self, body: dict[str, Any], *, key: str | None = None, replaced: Set[str] = frozenset()) -> None:
        body["wait"] = self.random.random() < 0.2
        headers = {"Idempotency-Key": key} if key else {}
        deadline = time.monotonic() + 120
        retries = 0
        while True:
            try:
                answer = self.http.post(f"{self._address()}/ingest", json=body, headers=headers)
                if answer.is_success:
                    break
                assert answer.status_code == 503, f"{answer.status_code}: {answer.text}"
            except httpx.TransportError:
                pass
            retries += 1
            assert time.monotonic() < deadline, "no acknowledgement within 120 s"
            time.sleep(_RETRY_SECONDS)
        assert len(answer.json()["items"]) == len(body["items"])
        self._ledger.add(body["items"], replaced, retries)
