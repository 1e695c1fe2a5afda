"""Whom the sleep worker gives way to, and that a command by hand gives way to nobody."""

from __future__ import annotations

from typing import Any

import pytest

from vicw_sleep.settings import SleepServiceSettings
from vicw_sleep.wiring import SleepWiring


class Graph:
    """Knows when somebody asked, and counts who wants to know."""

    pending_extractions = key_ring = open_vectors = None
    looks = 0

    def __init__(self) -> None:
        self.uses = self

    async def seconds_since_question(self) -> float | None:
        self.looks += 1
        return None

    async def steps(self) -> int:
        return 7


class Engines:
    """Open engines."""

    def __init__(self) -> None:
        self.graph, self.indexes = Graph(), Graph()


@pytest.mark.parametrize("gives_way", [True, False])
async def test_sleep_operations_yield_to_foreground_requests_if_configured(
    monkeypatch: pytest.MonkeyPatch, gives_way: bool
) -> None:
    engines = Engines()

    async def opened(*_: object) -> Engines:
        return engines

    monkeypatch.setattr("vicw_runtime.platform.wiring.open_engines", opened)
    wiring: Any = SleepWiring(SleepServiceSettings.read(), gives_way=gives_way)
    await wiring.open()
    assert await wiring.memory.graph.steps() == 7
    assert engines.graph.looks == int(gives_way), "once a second"
    await wiring.memory.yield_to_foreground()
    assert (wiring.memory.indexes is engines.indexes) is not gives_way
    await wiring.close()
