"""Clients as threads: one request after another, whatever is killed meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping

import httpx


class Client(threading.Thread):
    """Makes requests until it is told to finish, or something fails. ``pauses`` are the least and most seconds between.

    What it does by chance goes by its name alone.
    """

    def __init__(self, name: str, headers: Mapping[str, str] | None, pauses: tuple[float, float]) -> None:
        super().__init__(name=name, daemon=True)
        self.failure: BaseException | None = None
        self.halt = threading.Event()
        self.random = random.Random(name)
        self.http = self.opened(headers)
        self._pauses = pauses

    @staticmethod
    def opened(headers: Mapping[str, str] | None) -> httpx.Client:
        """Return what makes requests."""
        return httpx.Client(headers=headers, timeout=30, trust_env=False)

    def request(self) -> None:
        """Make the next request."""
        raise NotImplementedError

    def run(self) -> None:
        try:
            while not self.halt.is_set():
                self.request()
                self.halt.wait(self.random.uniform(*self._pauses))
        except BaseException as error:
            self.failure = error
        finally:
            self.http.close()

    def finish(self, within: float) -> None:
        """Let the request under way be answered, then stop."""
        self.halt.set()
        self.join(within)
        assert not self.is_alive(), f"{self.name} was not answered within {within:g} s"
        if self.failure is not None:
            raise self.failure
