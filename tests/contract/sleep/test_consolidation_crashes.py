"""A death before and behind every single thing that consolidation and restoring ask of an engine: what was stays, or
what is to be is there whole, and the next run ends it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import plain, said, sound, tell, thread
from contract.sleep.test_consolidation_job import GRACE, LATER, RULES, run, turns
from contract.sleep.test_consolidation_job import consolidation as consolidation_of
from support.stores.pairs import Side, asked_for
from vicw_shared.ports import Outcome, Steps
from vicw_sleep.reconcile.service import reconcile


class KilledError(Exception):
    """The process is no more."""


class Deaths:
    """Counts the moments before and behind each call of an engine, and kills at one of them."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.moments = 0

    def expect(self, at: int | None) -> None:
        """Kill at the so-manieth moment from now on; None: never."""
        self.at, self.moments = at, 0

    def moment(self) -> None:
        """Let one go by."""
        self.moments += 1
        if self.at is not None and self.moments >= self.at:
            raise KilledError  # from then on: nothing is tidied up any more

    def of(self, engine: Any) -> Any:
        """Return an engine whose calls, and those of its transactions, are such moments."""
        return _Mortal(engine, self)


class _Mortal:
    def __init__(self, engine: Any, deaths: Deaths) -> None:
        self._engine = engine
        self._deaths = deaths

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        if not callable(found):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._deaths.moment()
            if name == "write":
                *where, work = args
                args = (*where, lambda transaction: work(self._deaths.of(transaction)))
            done = await found(*args, **kwargs)
            self._deaths.moment()
            return done

        return call


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


@pytest.fixture
def deaths(side: Side, monkeypatch: pytest.MonkeyPatch) -> Deaths:
    """All that consolidation asks of engines beside the graph, with its moments."""
    found = Deaths()
    for engine, names in ((side.vectors, ("upsert", "delete", "dense")), (side.embedder, ("embed",))):
        mortal = found.of(engine)
        for name in names:
            monkeypatch.setattr(engine, name, getattr(mortal, name))
    return found


async def dies_at_moment(deaths: Deaths, moment: int, work: Callable[[], Awaitable[object]]) -> bool:
    """Do some work and die at a moment of it; return whether it came to that."""
    deaths.expect(moment)
    try:
        await work()
    except KilledError:
        return True
    finally:
        deaths.expect(None)
    return False


async def store_content(side: Side) -> tuple[object, ...]:
    return plain(await side.nodes()), said(await side.edges()), await side.payloads()


async def test_a_crash_at_any_call_of_consolidation_or_undo_loses_nothing(side: Side, deaths: Deaths) -> None:
    await tell(side, turns(5))
    await sound(side)
    was = await store_content(side)
    mortal = replace(consolidation_of(side), graph=deaths.of(side.graph))
    died, every = 0, 1 if side.name == "embedded" else 5
    consolidation = taking_back = True
    for moment in count(1, every):
        if consolidation:
            consolidation = await dies_at_moment(deaths, moment, lambda: mortal.run(RULES, now=LATER, again=True))
            left = len(await thread(side))
            assert left in {1, 5}
            assert left == 1 or plain(await side.nodes()) == was[0]
        await run(side, again=True)
        await sound(side)
        (event,) = await thread(side)
        assert event.is_macro
        (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
        assert step.outcome is Outcome.DONE
        if taking_back:
            taking_back = await dies_at_moment(deaths, moment, partial(mortal.undo, step.id, now=LATER, grace=GRACE))
            await reconcile(side.graph.outbox, side.graph.audit, side.vectors)  # as after any end out of order
        if len(await thread(side)) == 1:
            await consolidation_of(side).undo(step.id, now=LATER, grace=GRACE)
        await sound(side)
        assert await store_content(side) == was
        died += consolidation + taking_back
        if not consolidation and not taking_back:
            break
    assert died > 20 / every, "there are moments to die at"
