"""The real process: started, killed, orphaned, stopped."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from support.models import tiny_gguf, tiny_onnx
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import SettingsError
from vicw_shared.ports.embedder import Lane
from vicw_shared.settings.concerns import EmbeddingSettings

pytestmark = pytest.mark.process
LONG = "river stone memory of time " * 18


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingSettings:
    file = tiny_gguf.encoder(tmp_path_factory.mktemp("models") / "tiny.gguf")
    return EmbeddingSettings(model=str(file.path), dimensions=512)


@pytest.fixture
async def process(settings: EmbeddingSettings, tmp_path: Path) -> AsyncIterator[EmbeddingProcess]:
    running = EmbeddingProcess(settings, tmp_path)
    await running.start()
    yield running
    await running.close()


@pytest.fixture
async def embedder(process: EmbeddingProcess) -> AsyncIterator[OpenAIEmbedder]:
    opened = OpenAIEmbedder(uds=process.uds)
    yield opened
    await opened.close()


async def test_the_embedding_process_serves_on_a_socket_for_its_user_only(
    process: EmbeddingProcess, embedder: OpenAIEmbedder
) -> None:
    identity = await embedder.identity()
    rows = await embedder.embed(["river", "stone", LONG], Lane.QUERY)

    assert (identity.name, identity.size) == ("tiny", 512)
    assert rows.shape == (3, 512)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert stat.S_IMODE(process.uds.stat().st_mode) == 0o600
    assert stat.S_IMODE(process.uds.parent.stat().st_mode) == 0o700


def _environment(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text("utf-8", "replace")


async def test_the_embedding_process_serves_an_onnx_model_without_llama_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "path" / "llama_cpp").mkdir(parents=True)
    (tmp_path / "path" / "llama_cpp" / "__init__.py").write_text("raise ModuleNotFoundError(__name__)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    folder = tiny_onnx.encoder(tmp_path / "small").path.parent
    process = EmbeddingProcess(EmbeddingSettings(model=str(folder), dimensions=512), tmp_path)
    await process.start()
    embedder = OpenAIEmbedder(uds=process.uds)
    try:
        identity = await embedder.identity()
        rows = await embedder.embed(["river", "stone", LONG], Lane.QUERY)
        assert process.pid is not None
        assert "MALLOC_ARENA_MAX=2" in _environment(process.pid)
    finally:
        await embedder.close()
        await process.close()

    assert (identity.name, identity.size) == ("small", 512)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


async def test_start_raises_the_fault_of_an_onnx_model(tmp_path: Path) -> None:
    file = tiny_onnx.encoder(tmp_path / "cut")
    file.path.write_bytes(file.path.read_bytes()[:-100])
    process = EmbeddingProcess(EmbeddingSettings(model=str(file.path)), tmp_path)

    with pytest.raises(SettingsError, match=r"cut/model\.onnx is .*fetch it again"):
        await process.start()


async def test_a_killed_embedding_process_restarts_and_pending_calls_succeed(
    process: EmbeddingProcess, embedder: OpenAIEmbedder
) -> None:
    expected = await embedder.embed(["river stone"], Lane.QUERY)
    calls = [asyncio.create_task(embedder.embed(["river stone", LONG] * 10, Lane.BULK)) for _ in range(12)]
    await asyncio.sleep(0.1)
    killed = process.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)

    answers = await asyncio.gather(*calls)

    assert process.pid not in {None, killed}
    assert all(rows.shape == (20, 512) for rows in answers)
    assert all(float(rows[0] @ expected[0]) > 0.9999 for rows in answers)


async def test_a_killed_embedding_process_is_restarted_each_time(
    process: EmbeddingProcess, embedder: OpenAIEmbedder
) -> None:
    for _ in range(3):
        pid = process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert (await embedder.embed(["time"], Lane.QUERY)).shape == (1, 512)
        assert process.ready
        assert process.pid != pid


async def test_texts_of_a_disconnected_caller_leave_the_embedding_queue(
    process: EmbeddingProcess, embedder: OpenAIEmbedder
) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(process.uds))
    async with httpx.AsyncClient(base_url="http://embedding", transport=transport) as client:
        hasty = asyncio.create_task(client.post("/v1/embeddings", json={"input": [LONG] * 4000}))
        await _until(client, 'queue_texts{lane="bulk"} 4000.0')
        hasty.cancel()
        await _until(client, 'queue_texts{lane="bulk"} 0.0')
    assert (await embedder.embed(["time"], Lane.BULK)).shape == (1, 512)


async def _until(client: httpx.AsyncClient, line: str) -> None:
    async with asyncio.timeout(20):
        while line not in (await client.get("/metrics")).text:  # noqa: ASYNC110 - another process's state
            await asyncio.sleep(0.05)


async def test_closing_ends_the_embedding_process_and_removes_its_socket_folder(
    settings: EmbeddingSettings, tmp_path: Path
) -> None:
    process = EmbeddingProcess(settings, tmp_path)
    await process.start()
    pid = process.pid
    assert pid is not None

    await process.close()
    await process.close()

    assert not _runs(pid)
    assert not process.uds.parent.exists()
    assert process.pid is None


async def test_closing_kills_an_unresponsive_embedding_process(settings: EmbeddingSettings, tmp_path: Path) -> None:
    process = EmbeddingProcess(settings, tmp_path, stop_seconds=0.3)
    await process.start()
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)

    await process.close()

    assert not _runs(pid)


async def test_closing_kills_an_embedding_process_that_still_loads(settings: EmbeddingSettings, tmp_path: Path) -> None:
    process = EmbeddingProcess(settings, tmp_path, stop_seconds=60.0)
    await process.begin()
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # it heeds no SIGTERM, as while it loads

    async with asyncio.timeout(30):
        await process.close()

    assert not _runs(pid)


async def test_start_raises_the_settings_error_of_the_embedding_process(tmp_path: Path) -> None:
    process = EmbeddingProcess(EmbeddingSettings(model="Qwen3-Embedding-0.6B"), tmp_path)

    with pytest.raises(SettingsError, match="vicw model pull"):
        await process.start()
    assert process.pid is None
    assert not process.uds.parent.exists()


def test_an_orphaned_embedding_process_ends_and_cleans_up(settings: EmbeddingSettings, tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from vicw_embedding.process.supervisor import EmbeddingProcess\n"
        "from vicw_shared.settings.concerns import EmbeddingSettings\n"
        "async def main():\n"
        f"    process = EmbeddingProcess(EmbeddingSettings(model={settings.model!r}), Path({str(tmp_path)!r}))\n"
        "    await process.start()\n"
        "    print(process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _runs(child)
        assert list(tmp_path.glob("vicw-*"))
        parent.kill()

    assert _ends(child, within_seconds=15)
    assert not list(tmp_path.glob("vicw-*")), "it clears up after the parent that could not"


@pytest.mark.parametrize(("level", "lines"), [("info", 1), ("warning", 0)])
def test_the_embedding_process_logs_at_its_parents_level(
    settings: EmbeddingSettings, tmp_path: Path, level: str, lines: int
) -> None:
    script = (
        "import asyncio\n"
        "from pathlib import Path\n"
        "from vicw_embedding.process.supervisor import EmbeddingProcess\n"
        "from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder\n"
        "from vicw_runtime.logs import configure_logs\n"
        "from vicw_shared.ports.embedder import Lane\n"
        "from vicw_shared.settings.concerns import EmbeddingSettings, LogSettings\n"
        "async def main():\n"
        f"    process = EmbeddingProcess(EmbeddingSettings(model={settings.model!r}), Path({str(tmp_path)!r}))\n"
        "    await process.start()\n"
        "    embedder = OpenAIEmbedder(uds=process.uds)\n"
        "    await embedder.identity()\n"
        "    await embedder.embed(['time'], Lane.BULK)\n"
        "    await embedder.close()\n"
        "    await process.close()\n"
        f"configure_logs(LogSettings(level={level!r}))\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr.count('"event": "request"') == lines, ended.stderr


def test_the_embedding_server_listens_on_a_port_and_stops_on_sigterm(
    settings: EmbeddingSettings, tmp_path: Path
) -> None:
    environment = {**os.environ, "VICW_EMBEDDING_MODEL": settings.model, "VICW_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "vicw_embedding", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line.startswith("vicw-embedding ready http://127.0.0.1:"), line
        address = line.split()[-1]
        answer = httpx.post(f"{address}/v1/embeddings", json={"input": "time"}, timeout=30)
        foreign = [
            httpx.post(f"{address}/v1/embeddings", json={"input": "time"}, headers=headers).status_code
            for headers in ({"Host": "page.example"}, {"Origin": "http://page.example"})
        ]
        server.terminate()
        code = server.wait(20)

    assert len(answer.json()["data"][0]["embedding"]) == 1024
    assert foreign == [421, 403]
    assert code == 0


def test_an_embedding_server_on_all_interfaces_requires_its_secret(settings: EmbeddingSettings, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("sesame\n")
    mine = {"VICW_EMBEDDING_MODEL": settings.model, "VICW_EMBEDDING_API_KEY_FILE": str(tmp_path / "secret")}
    command = [sys.executable, "-m", "vicw_embedding", "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **mine}, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        size = asyncio.run(_size(port, "sesame"))
        with pytest.raises(SettingsError, match=r"answered 401.*VICW_EMBEDDING_API_KEY"):
            asyncio.run(_size(port, None))
        server.terminate()

    assert size == 1024


async def _size(port: int, secret: str | None) -> int:
    embedder = OpenAIEmbedder(base_url=f"http://127.0.0.1:{port}/v1", api_key=secret)
    try:
        return len((await embedder.embed(["time"], Lane.QUERY))[0])
    finally:
        await embedder.close()


async def test_an_embedding_process_start_refused_by_the_system_is_retried(
    process: EmbeddingProcess, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawn = asyncio.create_subprocess_exec
    refusals = iter([OSError(errno.EAGAIN, "Resource temporarily unavailable")] * 2)

    async def refused(*command: str, **how: Any) -> asyncio.subprocess.Process:
        if (error := next(refusals, None)) is not None:
            raise error
        return await spawn(*command, **how)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)

    assert (await embedder.embed(["river"], Lane.QUERY)).shape == (1, 512)
    assert next(refusals, None) is None


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("VICW_EMBEDDING_MODEL", "no-such-model", "no-such-model is neither"),
        ("VICW_EMBEDDING_MODEL", "./nothing.onnx", "./nothing.onnx does not exist"),
        ("VICW_EMBEDDING_THREADS", "many", "VICW_EMBEDDING_THREADS is 'many' in the environment"),
        ("VICW_PORT", "eighty", "VICW_PORT is 'eighty' in the environment"),
        ("VICW_EMBEDDING_API_KEY", " ", "VICW_EMBEDDING_API_KEY is empty"),
    ],
)
def test_a_wrong_setting_ends_the_embedding_server_with_exit_code_78(
    tmp_path: Path, variable: str, value: str, says: str
) -> None:
    environment = {**os.environ, variable: value, "VICW_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "vicw_embedding", "--uds", str(tmp_path / "s")]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    assert ended.returncode == 78
    assert ended.stdout.startswith(f"vicw-embedding fatal {says}")
    assert "Traceback" not in ended.stderr


def test_an_embedding_server_says_that_its_port_is_taken(settings: EmbeddingSettings, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [sys.executable, "-m", "vicw_embedding", "--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, "VICW_EMBEDDING_MODEL": settings.model, "VICW_DATA_DIR": str(tmp_path)}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    assert ended.returncode == 78
    assert ended.stdout.startswith(f"vicw-embedding fatal cannot listen on 127.0.0.1:{port}")
    assert "Traceback" not in ended.stderr


def test_an_embedding_server_on_all_interfaces_does_not_start_without_secret(
    settings: EmbeddingSettings, tmp_path: Path
) -> None:
    environment = {**os.environ, "VICW_EMBEDDING_MODEL": settings.model, "VICW_HOST": "0.0.0.0", "VICW_PORT": "0"}
    command = [sys.executable, "-m", "vicw_embedding"]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    assert ended.returncode == 78
    assert ended.stdout.startswith("vicw-embedding fatal VICW_EMBEDDING_API_KEY is not set")


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _ends(pid: int, within_seconds: float) -> bool:
    deadline = time.monotonic() + within_seconds
    while _runs(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
