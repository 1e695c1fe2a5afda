"""A client that asks while processes are killed: what was answered once is answered ever after, no id twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

import httpx

from support.clients.thread import Client
from support.clients.writer import Ledger


class Reader(Client):
    """Asks for what has been acknowledged, by its own words. ``address`` tells where to ask at the moment.

    What is sent again with another text is not asked for: nobody here knows which of the two the server has.
    """

    def __init__(
        self, seed: int, ledger: Ledger, address: Callable[[], str], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"asker-{seed}", headers, (0.0, 0.1))
        self.answered: dict[str, str] = {}
        self.answers = 0
        self._ledger = ledger
        self._address = address

    def request(self) -> None:
        known = self.answered if self.answered and self.random.random() < 0.5 else self._acknowledged()
        if known:
            self._ask(*self.random.choice([*known.items()]))

    def require_all(self) -> None:
        """Ask everything that was answered before once more, and require it."""
        with self.opened(self.http.headers) as self.http:
            for token, text in self.answered.items():
                deadline = time.monotonic() + 30
                while not self._ask(token, text):
                    assert time.monotonic() < deadline, f"nobody answers about {token}"

    def _acknowledged(self) -> dict[str, str]:
        return {token: text for token, text in self._ledger.texts.copy().items() if "updates-" not in text}

    def _ask(self, token: str, text: str) -> bool:
        """Ask; return whether there was an answer."""
        try:
            body = {"query": text, "context": "shared", "limit": 5, "explain": True}
            answer = self.http.post(f"{self._address()}/retrieve", json=body)
        except httpx.TransportError:
            return False
        if answer.status_code == 503:
            return False
        results = answer.raise_for_status().json()["results"]
        twice = [uid for uid, times in Counter(result["uid"] for result in results).items() if times > 1]
        assert not twice, f"answered twice: {twice}"
        hits = [result for result in results if token in result["text"].split()]
        assert hits or token not in self.answered, f"{token} was answered before, and is not any more"
        if any(channel["channel"] != "graph" for hit in hits for channel in hit["channels"]):
            self.answered[token] = text  # by its words; what is not indexed yet is found beside what is, and then not
        self.answers += bool(hits)
        return True
