"""The two ways to a server with the OpenAI API."""

from __future__ import annotations

import pytest

from vicw_runtime.model_servers import openai_connection


@pytest.fixture(params=["local", "remote"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test that uses it runs with the client for servers of this machine, and with that for all others."""
    if request.param == "remote":
        monkeypatch.setattr(openai_connection, "is_loopback", lambda _: False)
    return str(request.param)
