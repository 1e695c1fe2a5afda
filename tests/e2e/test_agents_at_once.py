"""Several agents write and read one memory at once, over HTTP and stdio, in both eras of the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes.server import Server, await_indexed, require_clean, temporary_directory
from support.stories.agents import stored, work_at_once

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

AGENTS, SECONDS = 6, 8.0


async def test_agents_at_once_lose_nothing_and_leave_the_store_clean(models_dir: Path) -> None:
    with temporary_directory() as directory:
        server = Server(directory / "data", models_dir)
        server.start()
        work = await work_at_once(server, AGENTS, SECONDS, directory)
        assert len(work.live) >= AGENTS
        assert work.retracted
        await_indexed(server)
        found = await stored(server)
        assert work.live <= found
        assert not work.retracted & found
        assert server.stop(within=15) == 0
        require_clean(server)
