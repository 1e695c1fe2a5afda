from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from support.clients.window import AT_ONCE, Awaited, Blocking, Driver, Open, words
from support.fakes.vicw_server import FakeVicw
from vicw_client import Retry


@pytest.fixture(params=["blocking", "asyncio"])
def open_window(request: pytest.FixtureRequest, vicw: FakeVicw) -> Iterator[Open]:
    """Open a window of 100 words, of which none are kept for the reply."""
    with asyncio.Runner() as runner:

        def make(retry: Retry = AT_ONCE, **given: Any) -> Driver:
            options = {"context": "chat", "window_tokens": 100, "reply_tokens": 0, "count_tokens": words}
            options |= {"message_tokens": 0, **given}
            if request.param == "asyncio":
                return Awaited(runner, vicw, retry, **options)
            return Blocking(vicw, retry, **options)

        yield make


@pytest.fixture
def vicw() -> FakeVicw:
    return FakeVicw()
