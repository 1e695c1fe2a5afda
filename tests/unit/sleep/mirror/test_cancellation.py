"""A run that is cancelled, as a server's end does, is over when none of its threads works on the mirror any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from support.documents.mirror_pages import mirror_of, pages
from support.stores.memory import Memory
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_sleep.mirror.service import Mirror


class Gate:
    """Holds a method of mirror folders up, once it was called, until it is opened; counts its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
        self.reached, self.opened, self.calls = threading.Event(), threading.Event(), 0
        real = getattr(MirrorFolder, method)

        def held(folder: MirrorFolder, *args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            self.reached.set()
            assert self.opened.wait(30)
            return real(folder, *args, **kwargs)

        monkeypatch.setattr(MirrorFolder, method, held)


async def cancel_at(gate: Gate, run: Coroutine[Any, Any, Any]) -> None:
    """Cancel a run whose thread stands at the gate: it must not end before the thread does."""
    running = asyncio.create_task(run)
    assert await asyncio.to_thread(gate.reached.wait, 30)
    running.cancel()
    await asyncio.sleep(0.05)
    assert not running.done()
    gate.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await running


async def mirror_of_thirty_items(memory: Memory, path: Path, *, word: str = "said") -> Mirror:
    await memory.ingest(*({"id": f"i{n}", "text": f"word{n} is {word}", "tags": [f"t{n % 3}"]} for n in range(30)))
    return mirror_of(memory, path)


async def test_a_cancelled_mirror_build_stops_at_its_next_page(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = await mirror_of_thirty_items(memory, tmp_path / "m")
    await mirror.build()
    before = pages(tmp_path / "m")
    await mirror_of_thirty_items(memory, tmp_path / "m", word="changed")
    with monkeypatch.context() as patch:
        gate = Gate(patch, "write")
        await cancel_at(gate, mirror.build())
    assert gate.calls == 1
    assert pages(tmp_path / "m") == before
    assert [one for one in await asyncio.to_thread(lambda: list(tmp_path.iterdir())) if "building" in one.name] == []
    assert (await mirror.sync()).pages
