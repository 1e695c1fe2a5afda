"""``vicw sleep`` at an address that has no ``/admin``, as the services of the platform have none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import Served, serve_store
from support.clients.sleep_command import without_model
from support.stores.memory import open_memory
from unit.standalone.test_sleep_command import fill_with_turns
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_standalone.app import create_standalone_app
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone
from vicw_stores.data_dir import DataDir


def _without_admin(standalone: Standalone) -> Any:
    """Return the real application; at /admin it answers as at any address that it does not have."""
    served = create_standalone_app(standalone)

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/admin"):
            scope = {**scope, "path": "/nothing", "raw_path": b"/nothing"}
        await served(scope, receive, send)

    return answer


class Platform:
    """Commands at the address, each with a key."""

    def __init__(self, served: Served, url: str) -> None:
        self._served, self._url = served, url
        self.steps: list[str] = []

    def key(self, *rights: Right, tenant: str = "default") -> str:
        key, token = mint(tenant, rights, now())
        self._served.portal.call(self._served.standalone.keys.add, key)
        return token

    def __call__(self, *words: str, key: str) -> Result:
        return CliRunner().invoke(app, ["sleep", *words, "--url", self._url], env={"VICW_API_KEY": key})


@pytest.fixture
def platform(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    async def fill() -> None:
        async with open_memory(store) as memory:
            await fill_with_turns(memory)

    asyncio.run(fill())
    without_model(monkeypatch)
    monkeypatch.delenv("VICW_URL", raising=False)
    consolidated = CliRunner().invoke(app, ["sleep", "consolidate", "--hours", "0", "--data-dir", str(store), "--json"])
    assert json.loads(consolidated.stdout)["macros"] > 0
    monkeypatch.setattr("support.clients.served.create_standalone_app", _without_admin)
    monkeypatch.setenv("VICW_DATA_DIR", str(tmp_path / "elsewhere"))
    with serve_store(store, host="0.0.0.0") as served:
        serving = DataDir.read_server(store)
        assert serving is not None
        yield Platform(served, serving.url)


def _logged(done: Result) -> list[dict[str, Any]]:
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_log_status_and_undo_ask_the_public_api(platform: Platform) -> None:
    key = platform.key(Right.ADMIN, Right.RETRIEVE)
    steps = _logged(platform("log", "--json", key=key))
    assert {(step["task"], step["outcome"]) for step in steps} == {("consolidate", "done")}
    assert len(_logged(platform("log", "--json", "--limit", "1", key=key))) == 1
    assert _logged(platform("log", "--json", "--refused", key=key)) == []
    assert steps[0]["id"] in platform("log", "--task", "consolidate", key=key).stdout
    assert "no such step" in platform("log", "--task", "dream", key=key).stderr
    state = json.loads(platform("status", "--json", key=key).stdout)
    assert state["recent"]["done"] == len(steps)
    assert "consolidation: next at" in platform("status", key=key).stdout
    undone = json.loads(platform("undo", steps[0]["id"], "--json", key=key).stdout)
    assert undone == {"message": f"step {steps[0]['id']} (consolidate) is undone"}
    again = platform("undo", steps[0]["id"], key=key)
    assert (again.exit_code, again.stdout, again.stderr[:6]) == (1, "", "error:")
    assert _logged(platform("log", "--json", key=key))[0]["outcome"] == "undone"


def test_a_key_sees_and_undoes_steps_of_its_tenant_alone(platform: Platform) -> None:
    mine, other = platform.key(Right.ADMIN), platform.key(*Right, tenant="bob")
    step = _logged(platform("log", "--json", key=mine))[0]["id"]
    assert _logged(platform("log", "--json", key=other)) == []
    assert json.loads(platform("status", "--json", key=other).stdout)["last_step_at"] is None
    assert platform("undo", step, key=other).exit_code == 1
    refused = platform("log", "--tenant", "default", key=other)
    assert (refused.exit_code, "--tenant" in refused.stderr) == (2, True)
    assert platform("log", key=platform.key(Right.RETRIEVE)).exit_code == 1


@pytest.mark.parametrize(
    ("command", "job", "option"),
    [
        ("consolidate", "consolidation", "--hours=0"),
        ("dream", "dream", "--limit=1"),
        ("resolve", "resolve", "--dry-run"),
    ],
)
def test_a_worker_runs_the_job(platform: Platform, command: str, job: str, option: str) -> None:
    key = platform.key(Right.ADMIN, Right.RETRIEVE)
    refused = platform(command, option, key=key)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"{option.partition('=')[0]} says nothing here" in refused.stderr
    assert json.loads(platform(command, "--json", key=key).stdout) == {"job": job}
    assert f"a worker runs {job} soon" in platform(command, key=key).stdout
    assert platform(command, key=platform.key(*Right, tenant="bob")).exit_code == 1, "it is of all tenants"
