"""A client that asks while processes are killed: what was answered once is answered ever after, no id twice."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

import httpx

from e2e.writers import Ledger

_PAUSE_SECONDS = 0.1


class Asker(threading.Thread):
    """Asks for what has been acknowledged, by its own words. ``address`` tells where to ask at the moment.

    What is sent again with another text is not asked for: nobody here knows when the server takes the one for the other.
    """

    def __init__(
        self, seed: int, ledger: Ledger, address: Callable[[], str], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(name=f"asker-{seed}", daemon=True)
        self.failure: BaseException | None = None
        self.halt = threading.Event()
        self.answered: dict[str, str] = {}
        self.answers = 0
        self._random = random.Random(f"asker {seed}")
        self._ledger = ledger
        self._address = address
        self._http = httpx.Client(headers=headers, timeout=30, trust_env=False)

    def run(self) -> None:
        try:
            while not self.halt.is_set():
                known = self.answered if self.answered and self._random.random() < 0.5 else self._asked_for()
                if known:
                    self._ask(*self._random.choice([*known.items()]))
                self.halt.wait(self._random.uniform(0, _PAUSE_SECONDS))
        except BaseException as error:
            self.failure = error
        finally:
            self._http.close()

    def finish(self, within: float) -> None:
        """Let the question under way be answered, then stop."""
        self.halt.set()
        self.join(within)
        assert not self.is_alive(), f"{self.name} was not answered within {within:g} s"
        if self.failure is not None:
            raise self.failure

    def require_all(self) -> None:
        """Ask everything that was answered before once more, and require it."""
        self._http = httpx.Client(headers=self._http.headers, timeout=30, trust_env=False)
        with self._http:
            for token, text in self.answered.items():
                deadline = time.monotonic() + 30
                while not self._ask(token, text):
                    assert time.monotonic() < deadline, f"nobody answers about {token}"

    def _asked_for(self) -> dict[str, str]:
        return {token: text for token, text in self._ledger.texts.copy().items() if "updates-" not in text}

    def _ask(self, token: str, text: str) -> bool:
        """Ask; return whether there was an answer."""
        try:
            body = {"query": text, "context": "shared", "limit": 5, "explain": True}
            answer = self._http.post(f"{self._address()}/retrieve", json=body)
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
