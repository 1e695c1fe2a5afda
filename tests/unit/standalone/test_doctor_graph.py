"""``vicw doctor --graph``: what the graph brings to a server's answers (seed 002 §10.2)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from support.clients.loop_bridge import connected
from support.stores.memory import Memory
from vicw_standalone.cli import app

CHAT = ("The deployment began at noon.", "The disk was full, so the database stopped.", "The web shop went down.")


async def doctor(memory: Memory, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    connected(monkeypatch, memory.standalone)
    with capture_logs():
        return await asyncio.to_thread(lambda: CliRunner().invoke(app, ["doctor", *arguments]))


def finding_of(result: Result, what: str) -> str:
    findings = re.split(r"(?:^| )(?:ok|note|bad) ", " ".join(result.output.split()))
    return next((finding for finding in findings if finding.startswith(f"{what}:")), "")


@pytest.fixture
async def chat(memory: Memory) -> Memory:
    turns: list[dict[str, Any]] = [{"id": f"t{n}", "speaker": "Ana", "text": text} for n, text in enumerate(CHAT)]
    await memory.ingest(*turns, context="chat", flow_id="f", extract="rules")
    return memory


async def test_doctor_graph_reports_spreads_edges_and_timing_of_a_question(
    chat: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = await doctor(chat, monkeypatch, "--graph", "Why did the database stop?", "--context", "chat")
    assert seen.exit_code == 0, seen.output
    assert "lift" in finding_of(seen, "spreads")
    assert "by NEXT at depth 1" in finding_of(seen, "results")
    assert "NEXT" in finding_of(seen, "edges")
    assert "found by another channel" in finding_of(seen, "agreement")
    assert "weight 0.15" in finding_of(seen, "typed edges")
    assert "median " in " ".join(seen.output.split())


async def test_doctor_graph_without_a_question_takes_one_from_the_context(
    chat: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = await doctor(chat, monkeypatch, "--graph", "--context", "chat")
    assert seen.exit_code == 0, seen.output
    assert "spreads" in seen.output


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (("--graph",), "give a question, or a --context"),
        (("--graph", "--context", "no such"), "give a question"),
        (("Why?",), "need --graph"),
    ],
)
async def test_doctor_graph_refuses_wrong_arguments_with_the_fix(
    chat: Memory, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], fix: str
) -> None:
    seen = await doctor(chat, monkeypatch, *arguments)
    assert seen.exit_code == 2
    assert fix in " ".join(seen.output.split())


async def test_doctor_graph_notes_results_without_edges(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest({"id": "a", "text": "Alone in the world."}, context="c")
    seen = await doctor(memory, monkeypatch, "--graph", "alone", "--context", "c")
    assert "the results have no edges" in " ".join(seen.output.split())
