"""A file of every format in one import: a question of each finds the right words, speaker, time and neighbour."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.files.one_of_everything import KNOWN, Known, write_everything
from support.processes.server import VICW, Server, environment
from vicw_readers.registry import READERS

pytestmark = pytest.mark.process

CONTEXT = "everything"
_REFUSING = {"unknown-chat", "export-part", "old-office", "obsidian-base", "chat-for-the-eye"}
"""Formats that are only told by name."""
_MORE = {"claude-projects", "open-webui", "librechat", "signal", "imessage", "letta", "rst", "asciidoc", "latex"}
"""Read by their own tests alone: each has a twin here that goes the same way."""


@pytest.fixture(scope="module")
def summary(server: Server, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")
    folder = write_everything(tmp_path_factory.mktemp("all") / "desk")
    variables = environment(models_dir, XDG_STATE_HOME=str(folder.parent / "state"))
    command = [str(VICW), "ingest", str(folder), "--url", server.url, "--context", CONTEXT, "--owner", "Ida", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    yield told


def test_every_format_is_read_and_people_s_words_are_personal(summary: dict[str, Any]) -> None:
    assert not summary["refused"]
    read = {one["format"] for one in summary["read"]}
    assert read == {known.reader for known in KNOWN}
    assert read | _REFUSING | _MORE == {reader.name for reader in READERS}
    assert summary["private"] == 10


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.reader)
def test_a_question_of_each_format_finds_it(summary: dict[str, Any], server: Server, known: Known) -> None:
    assert summary
    question = {"query": known.question, "context": CONTEXT, "limit": 3}
    results = httpx.post(f"{server.url}/retrieve", json=question, timeout=60, trust_env=False).json()["results"]
    found = [one for one in results if known.words in one["text"]]
    assert found, [one["text"] for one in results]
    assert found[0]["speaker"] == known.speaker
    assert (found[0]["timestamp"] or "").startswith(known.time or "")
    if known.next_to is not None:
        whole = httpx.get(f"{server.url}/items/{found[0]['uid']}", timeout=60, trust_env=False).json()
        others = {end for edge in whole["edges"] if edge["type"] == "NEXT" for end in (edge["source"], edge["target"])}
        texts = [
            httpx.get(f"{server.url}/items/{uid}", timeout=60, trust_env=False).json()["text"]
            for uid in others - {found[0]["uid"]}
        ]
        assert any(known.next_to in text for text in texts), texts
