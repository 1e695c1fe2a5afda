"""A conversation longer than its window, over the real server: remembered, whatever is killed meanwhile."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import Server, await_indexed, count_nodes, require_clean
from vicw_client import AsyncVicwClient, Retry, VicwClient

pytestmark = pytest.mark.process

EXAMPLE = Path(__file__).parents[2] / "examples" / "window_chat.py"
OPTIONS: dict[str, Any] = {"window_tokens": 400, "system": "Be kind.", "timeout_seconds": 5.0}
IN_A_MOMENT = Retry(attempts=2, first_seconds=0.05, longest_seconds=0.2)
TOLD = "My sister Carla keeps a parrot called Admiral in her bakery."


def stored(server: Server, context: str) -> dict[str, int]:
    """Return how often each text of a context is stored."""
    query = """
        SELECT chunk.text, count(*) FROM node AS chunk WHERE chunk.label = 'Chunk' AND chunk.context = ?
        GROUP BY chunk.text
    """
    with closing(sqlite3.connect(f"file:{server.data_dir}/graph.sqlite3?mode=ro", uri=True)) as graph:
        return dict(graph.execute(query, (context,)))


def test_the_window_recalls_old_turns_without_repeating_shown_ones(server: Server) -> None:
    with VicwClient(server.url) as client, client.window(context="parrot", wait=True, **OPTIONS) as window:
        window.ask(TOLD)
        window.answer("What a fine name.")
        for n in range(12):
            window.ask(f"Let us talk about the weather of day {n}, which was rather grey and wet.")
            window.answer(f"Day {n} was grey and wet indeed, as most days of that autumn were.")
        messages = window.ask("What is the parrot in the bakery called?")
    assert window.degraded is None
    assert window.cost(messages) <= window.budget
    memory, question = messages[-2:]
    assert question == {"role": "user", "content": "What is the parrot in the bakery called?"}
    assert TOLD in memory["content"]
    shown = [message["content"] for message in messages if message is not memory]
    assert TOLD not in shown
    assert not [text for text in shown[1:] if text in memory["content"]]


async def test_the_async_client_window_recalls_old_turns(server: Server) -> None:
    async with (
        AsyncVicwClient(server.url) as client,
        client.window(context="parrot async", wait=True, **OPTIONS) as window,
    ):
        await window.ask(TOLD)
        for n in range(12):
            await window.answer(f"Day {n} was grey and wet indeed, as most days of that autumn were.")
            await window.ask(f"Let us talk about the weather of day {n + 1}, which was rather grey and wet.")
        messages = await window.ask("What is the parrot in the bakery called?")
        assert TOLD in messages[-2]["content"]


def test_server_kills_neither_lose_nor_duplicate_window_turns(serve: Serve) -> None:
    server = serve()
    server.start()
    said: list[str] = []
    degraded = 0
    with VicwClient(server.url, retry=IN_A_MOMENT) as client:
        window = client.window(context="killed", **OPTIONS)
        for n in range(40):
            if n in {6, 22}:
                server.kill()
            if n in {14, 32}:
                _restart_on_same_port(server)
            said += [f"question {n} " + "la " * 10 + "?", f"answer {n} " + "lo " * 10 + "."]
            messages = window.ask(said[-2])
            assert messages[-1]["content"] == said[-2]
            assert window.cost(messages) <= window.budget
            window.answer(said[-1])
            degraded += window.degraded is not None
        assert degraded >= 12, "it was noticed, and the chat went on"
        window.close()
    assert window.waiting == 0
    assert window.failed == ()
    assert stored(server, "killed") == dict.fromkeys(said, 1)
    assert count_nodes(server, "context = 'killed' AND label = 'Event'") == len(said)
    _require_order(server, said)
    _require_all_indexed_and_clean(server)


def test_a_killed_application_resumes_its_window_from_the_spool(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.start()
    spool = tmp_path / "chat.jsonl"
    acknowledged: list[str] = []
    for start in (0, 1000, 2000):
        if start == 1000:
            server.kill()
        acknowledged += _talk_until_killed(server, spool, start)
    _restart_on_same_port(server)
    with VicwClient(server.url) as client, client.window(context="spooled", spool=spool, **OPTIONS) as window:
        window.ask("Where were we?")
    found = stored(server, "spooled")
    assert set(found.values()) == {1}
    assert set(acknowledged) <= found.keys()
    assert len(found) <= len(acknowledged) + 3 + 1, "what was being recorded at a kill may have been"
    _require_all_indexed_and_clean(server)


def test_the_window_example_recalls_the_first_turn(server: Server) -> None:
    done = _example(server, "--script", "--context", "example")
    assert done.returncode == 0, done.stderr
    last = done.stdout.rpartition("messages, ")[2]
    assert "Biscuit" in last, "said first, recalled last"
    assert "<memory>" in last
    assert "Recalled from earlier" not in done.stdout.partition("beetles")[0], "not needed so early"


def test_the_window_example_echoes_resumes_and_needs_a_model_url(server: Server, tmp_path: Path) -> None:
    spool = str(tmp_path / "chat.jsonl")
    echoed = _example(server, "--echo", "--context", "echo", "--spool", spool, typed="Good morning\n\nHow are you?\n")
    assert "model> You said: Good morning" in echoed.stdout, echoed.stderr
    again = _example(server, "--echo", "--show", "--context", "echo", "--spool", spool, typed="Still there?\n")
    assert "user: Good morning" in again.stdout, "the chat goes on"
    none = _example(server)
    assert (none.returncode, "OPENAI_BASE_URL is not set" in none.stderr) == (1, True)


@pytest.mark.parametrize(
    ("page", "last"), [("docs/quickstart.md", "What was my sister's cat called?"), ("docs/client.md", "Hello")]
)
def test_the_documented_window_snippets_run(
    server: Server, page: str, last: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (EXAMPLE.parents[1] / page).read_text("utf-8")
    (shown,) = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if ".window(" in code]
    monkeypatch.setenv("VICW_URL", server.url)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"VicwClient": VicwClient, "chat": ["Hello"], "model": lambda messages: "Good morning"}
    exec(shown, names)
    assert names["messages"][-1] == {"role": "user", "content": last}
    assert names["window"].waiting == 0


def _require_all_indexed_and_clean(server: Server) -> None:
    """All that was stored in the background is found, and the store is clean."""
    await_indexed(server)
    assert server.stop() == 0
    require_clean(server)


def _restart_on_same_port(server: Server) -> None:
    """Start it where its clients look for it."""
    server.port = httpx.URL(server.url).port or 0
    server.start()


def _example(server: Server, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    environment = server.environment | {"VICW_URL": server.url}
    environment.pop("OPENAI_BASE_URL", None)
    command = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, env=environment, timeout=120, check=False
    )


_TALKER = """
import sys
from vicw_client import Retry, VicwClient

url, spool, start = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = VicwClient(url, retry=Retry(attempts=1, first_seconds=0.05, longest_seconds=0.2))
window = client.window(context="spooled", spool=spool, window_tokens=400, system="Be kind.", timeout_seconds=5.0)
for n in range(start, start + 1000):
    window.ask(f"question {n}")
    print(f"question {n}", flush=True)
    window.answer(f"answer {n}")
    print(f"answer {n}", flush=True)
"""


def _talk_until_killed(server: Server, spool: Path, start: int) -> list[str]:
    """Let an application of its own talk for a while, and kill it; return what it knew to be recorded."""
    with subprocess.Popen(
        [sys.executable, "-c", _TALKER, server.url, str(spool), str(start)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=server.environment,
    ) as talker:
        assert talker.stdout is not None
        assert talker.stderr is not None
        lines = [talker.stdout.readline() for _ in range(30)]
        talker.send_signal(signal.SIGKILL)
        lines += talker.stdout.readlines()
        assert all(lines), talker.stderr.read()
    return [line.strip() for line in lines if line.endswith("\n")]


def _require_order(server: Server, said: list[str]) -> None:
    """The turns stand in NEXT as they were said, also those that were stored late."""
    query = """
        SELECT count(*) FROM edge
        JOIN node AS earlier ON earlier.pk = edge.source JOIN node AS later ON later.pk = edge.target
        WHERE edge.type = 'NEXT' AND earlier.context = 'killed' AND earlier.timestamp < later.timestamp
    """
    with closing(sqlite3.connect(f"file:{server.data_dir}/graph.sqlite3?mode=ro", uri=True)) as graph:
        (ordered,) = graph.execute(query).fetchone()
    assert ordered == len(said) - 1
