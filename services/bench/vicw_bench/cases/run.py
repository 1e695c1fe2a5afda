"""Runs a folder of cases against a server of its own, or a given one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from vicw_bench.cases.model import Case
from vicw_bench.cases.service import Outcome, replay
from vicw_bench.speed.server import serve
from vicw_standalone.settings import StandaloneSettings

_TIMEOUT_SECONDS = 120.0


async def run_cases(
    cases: list[Case], settings: StandaloneSettings, url: str | None, retrieve_url: str | None
) -> AsyncIterator[Outcome]:
    """Replay the cases on one store and yield each outcome: a new store that is removed, or that of the server."""
    async with _server(settings, url) as address, _client(address) as client, _client(retrieve_url or address) as asked:
        async for outcome in replay(cases, client, asked):
            yield outcome


def as_json(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return what was measured, for a file."""
    rows = [
        {"id": one.case.id, "right": one.right} | {k: v for k, v in asdict(one).items() if k != "case"}
        for one in outcomes
    ]
    return {"cases": rows}


def lines_of(outcome: Outcome) -> list[str]:
    """Return an outcome as lines: what is wrong about it; what came back, where nothing says what is right."""
    word = {True: "right", False: "wrong", None: "shown"}[outcome.right]
    lines = [f"{word}  {outcome.case.id}  {outcome.case.title}".rstrip()]
    if outcome.right:
        return lines
    lines += [f"       {problem}" for problem in outcome.problems]
    found = ", ".join(outcome.found) or "no results"
    lines += [f"       came back: status {outcome.status}, {found}"]
    return lines + ([f"       right is: {outcome.case.expect}"] if outcome.case.expect else [])


def summary(outcomes: list[Outcome]) -> str:
    """Return how many are right, in one line."""
    judged = [one for one in outcomes if one.right is not None]
    right = sum(bool(one.right) for one in judged)
    shown = len(outcomes) - len(judged)
    return f"{right} of {len(judged)} right" + (f", {shown} shown, not judged" if shown else "")


@asynccontextmanager
async def _server(settings: StandaloneSettings, url: str | None) -> AsyncIterator[str]:
    if url is not None:
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="vicw-cases-") as folder:
        store = Path(folder) / "data"
        async with serve(store, model=settings.embedding.model, models_dir=settings.models_dir) as server:
            yield server.url


def _client(url: str) -> httpx.AsyncClient:
    key = os.environ.get("VICW_API_KEY", "").strip()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    local = httpx.URL(url).host in {"127.0.0.1", "localhost", "::1"}  # a proxy must not get these
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=not local)
