"""A month later: an export with an edited question replaces the branch before, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.processes.server import VICW, Server, environment
from vicw_client import VicwClient

pytestmark = pytest.mark.process
type Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(server: Server, models_dir: Path, tmp_path: Path) -> Run:
    variables = environment(models_dir, XDG_STATE_HOME=str(tmp_path / "state"))

    def ingest(*words: str | Path, code: int = 0) -> dict[str, Any]:
        arguments = [str(VICW), "ingest", "--url", server.url, "--json", *map(str, words)]
        done = subprocess.run(arguments, capture_output=True, text=True, env=variables, timeout=120, check=False)
        assert done.returncode == code, done.stderr
        summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return summary

    return ingest


def export(path: Path, shown: str, title: str | None, *turns: tuple[str, str | None, str]) -> Path:
    nodes = {
        key: {
            "id": key,
            "parent": parent,
            "message": {
                "id": key,
                "author": {"role": "user" if key.startswith("q") else "assistant"},
                "content": {"content_type": "text", "parts": [text]},
                "create_time": 1756000000 + n,
            },
        }
        for n, (key, parent, text) in enumerate(turns)
    }
    chat = {"conversation_id": "kiln", "title": title, "current_node": shown, "mapping": nodes}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat]))
    return path


def shown_in(server: Server, context: str) -> list[tuple[str | None, str | None]]:
    with VicwClient(server.url) as client:
        page = client.timeline(context)
        return [(one.id, one.text) for one in page.items]


def test_an_edited_conversation_replaces_the_branch_before(server: Server, run: Run, tmp_path: Path) -> None:
    turns: list[tuple[str, str | None, str]] = [
        ("q1", None, "Where should the kiln stand?"),
        ("a1", "q1", "On the slab behind the shed."),
        ("q2", "a1", "How many bricks does a kiln of one metre need?"),
        ("a2", "q2", "About two hundred and twenty bricks."),
    ]
    edited = [("q3", "a1", "How many bricks does a kiln of two metres need?"), ("a3", "q3", "About nine hundred.")]
    may = export(tmp_path / "may.zip", "a2", None, *turns)
    june = export(tmp_path / "june.zip", "a3", "The kiln", *turns, *edited)
    context = ["--context", tmp_path.name]
    first = run(may, *context)
    assert (first["created"], first["replaced"]) == (4, 0)
    second = run(june, *context)
    assert {name: second[name] for name in ("created", "updated", "unchanged", "replaced")} == {
        "created": 2,
        "updated": 0,
        "unchanged": 2,
        "replaced": 2,
    }
    assert sorted(key for key, _ in shown_in(server, tmp_path.name) if key) == ["a1", "a3", "q1", "q3"]
    with VicwClient(server.url) as client:
        answer = client.retrieve(query="How many bricks does the kiln need?", context=tmp_path.name)
        assert not [one for one in answer.results if "two hundred" in one.text]
    assert run(june, *context)["stored_before"] == 4
    together = ["--context", f"{tmp_path.name}-2"]
    both = run(may, june, *together)
    assert (both["created"], both["replaced"], both["refused"]) == (6, 2, [])
    assert sorted(key for key, _ in shown_in(server, together[1]) if key) == ["a1", "a3", "q1", "q3"]
    back = run(may, *context)
    assert (back["replaced"], back["unchanged"]) == (2, 2)
    assert sorted(key for key, _ in shown_in(server, tmp_path.name) if key) == ["a1", "a2", "q1", "q2"]


def test_what_is_not_read_is_in_the_result_and_in_the_exit_code(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / f"papers-{tmp_path.name}"
    folder.mkdir()
    (folder / "a.md").write_text("# Papers\n\nOf the harbour.\n")
    for n in range(3):
        (folder / f"{n}.pdf").write_bytes(b"{\\rtf1 Minutes}")
    summary = run(folder, code=1)
    assert summary["created"] == 1
    assert summary["read"] == [{"format": "markdown", "title": "Markdown", "files": 1, "items": 1}]
    assert {(one["kind"], Path(one["path"]).name, bool(one["fix"])) for one in summary["refused"]} == {
        ("RTF document", f"{n}.pdf", True) for n in range(3)
    }
