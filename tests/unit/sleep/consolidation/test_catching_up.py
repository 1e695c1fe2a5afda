"""When a context that has grown counts as gone through."""

from __future__ import annotations

from typing import Any

import pytest

from vicw_shared.ports import Growth
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.consolidating import Consolidated
from vicw_sleep.consolidation.turn import CaughtUp, catch_up

GROWN = Growth("t", "c", 12)


class Consolidation:
    """Has done so much, and keeps what is noted."""

    def __init__(self, done: Consolidated) -> None:
        self.graph = self
        self.noted: list[Growth] = []
        self._done = done

    async def run(self, *_: object, **__: object) -> Consolidated:
        return self._done

    async def grown(self, *_: object, **__: object) -> list[Growth]:
        return [] if self.noted else [GROWN]

    async def note_growth(self, growth: Growth) -> None:
        self.noted.append(growth)


@pytest.mark.parametrize("changed", [0, 1])
async def test_what_changed_meanwhile_is_looked_at_again(changed: int) -> None:
    consolidation: Any = Consolidation(Consolidated(macros=1, changed=changed))
    assert await catch_up(consolidation, ConsolidationSettings(interactions=6)) == CaughtUp(None)
    assert consolidation.noted == ([] if changed else [GROWN])
