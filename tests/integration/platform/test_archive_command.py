"""``vicw export``, ``import``, ``backup`` and ``restore`` on the platform's engines, and from the embedded ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.clients.served import keep_logs
from support.stores.exports import assert_same_exports
from support.stores.memory import open_memory
from unit.sleep.archive.test_commands import vicw


@pytest.fixture
def embedding_url() -> str:
    return "http://127.0.0.1:9/v1"  # nothing is embedded


def test_export_and_backup_round_trip_between_embedded_and_platform_stores(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_logs(monkeypatch)

    async def fill() -> None:
        async with open_memory(store) as memory:
            turns = ({"id": f"m{n}", "text": f"turn {n} of Ana", "speaker": "Ana", "flow_id": "f"} for n in range(6))
            await memory.ingest(*turns)

    asyncio.run(fill())
    assert vicw("export", "--to", tmp_path / "one", "--data-dir", store).exit_code == 0
    done = vicw("import", tmp_path / "one", "--platform")
    assert done.exit_code == 0, done.output
    assert "0 waiting\nclean" in vicw("check", "--platform").stdout
    assert "has data in this store" in vicw("import", tmp_path / "one", "--platform").output
    assert vicw("export", "--to", tmp_path / "two", "--platform").exit_code == 0
    assert_same_exports(tmp_path / "one", tmp_path / "two")
    key = vicw("keys", "create", "--platform").stdout.split("_")[1]
    assert vicw("backup", "--to", tmp_path / "backups", "--compress", "--platform").exit_code == 0
    (backup,) = (tmp_path / "backups").iterdir()
    assert "is not empty" in vicw("restore", backup, "--platform").output
    assert vicw("restore", backup, "--platform", "--replace").exit_code == 2
    other = tmp_path / "other"
    assert vicw("restore", backup, "--data-dir", other).exit_code == 0
    assert "0 waiting\nclean" in vicw("check", "--data-dir", other).stdout
    assert key in vicw("keys", "list", "--data-dir", other).stdout
    assert vicw("export", "--to", tmp_path / "three", "--data-dir", other).exit_code == 0
    assert_same_exports(tmp_path / "one", tmp_path / "three")
