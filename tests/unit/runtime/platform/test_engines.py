"""The platform's engines say what is missing in the settings before they wait for any server."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from support.servers.machine import free_port
from vicw_runtime.platform.engines import open_engines
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.errors import SettingsError
from vicw_shared.model import EdgeRegistry


async def test_a_missing_embedding_url_is_reported_while_the_graph_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VICW_NEO4J_URL", f"bolt://127.0.0.1:{free_port()}")
    monkeypatch.setenv("VICW_NEO4J_PASSWORD", "password")
    monkeypatch.setenv("VICW_EMBEDDING_URL", "")
    async with AsyncExitStack() as stack:
        with pytest.raises(SettingsError, match="VICW_EMBEDDING_URL is not set"):
            await open_engines(PlatformSettings.read(), EdgeRegistry.with_core_types(), stack)
