"""Replays cases over HTTP, one after the other on one store, and judges the answers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from vicw_bench.cases.judge import field_of, ids_of, judge
from vicw_bench.cases.model import Case, CaseRequest, Right

_PLACEHOLDER = re.compile(r"<([^<>]{1,200}) of the answer>")
_JOB_SECONDS, _POLL_SECONDS = 300.0, 0.1
_ASKED_AGAIN, PAUSE_SECONDS = 5, 1.0
"""How often a wrong answer is asked for again if it is degraded, and how long after."""
_SUCCESS = Right()
_OF_RETRIEVAL = frozenset(
    "check contexts events feedback graph hooks items mcp people retrieve sleep stats users webhooks".split()
)
"""First parts of the paths that the retrieval service has, where services are separate."""
_CHANGES = frozenset({"/items/retract", "/sleep/undo", "/sleep/run"})
"""Paths below these that ingest has all the same."""


class ReplayError(Exception):
    """A request cannot be made from the answer before it, or what it started does not end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case that was replayed: what is wrong, a line each, and the results of its last answer."""

    case: Case
    problems: tuple[str, ...]
    status: int
    found: tuple[str, ...]
    seconds: float

    @property
    def right(self) -> bool | None:
        """Whether it is right; None if nothing says what is."""
        return not self.problems if self.case.judged else None


def is_of_retrieval(method: str, path: str) -> bool:
    """Return whether the retrieval service answers a request, where services are separate; else ingest does."""
    plain = path.partition("?")[0]
    return method != "PATCH" and plain.removeprefix("/").partition("/")[0] in _OF_RETRIEVAL and plain not in _CHANGES


async def replay(
    cases: Sequence[Case], client: httpx.AsyncClient, retrieval: httpx.AsyncClient | None = None
) -> AsyncIterator[Outcome]:
    """Replay the cases in order and yield the outcome of each.

    A case may ask about what an earlier one has stored. ``retrieval`` answers questions, where they are a service of
    their own.
    """
    for case in cases:
        yield await _replay(case, client, retrieval or client)


async def _replay(case: Case, client: httpx.AsyncClient, retrieval: httpx.AsyncClient) -> Outcome:
    started, status, problems = time.monotonic(), 0, []
    answer: Any = None
    for number, (request, right) in enumerate(zip(case.requests, case.expectations, strict=True), start=1):
        of = f"request {number}: " if len(case.requests) > number else ""
        try:
            service = retrieval if is_of_retrieval(request.method, request.path) else client
            before, again = answer, _ASKED_AGAIN
            status, answer = await _send(request, before, service)
            while again and _is_degraded(answer) and judge(right or _SUCCESS, status, answer):
                await asyncio.sleep(PAUSE_SECONDS)  # a busy machine: a part was out of time
                status, answer = await _send(request, before, service)
                again -= 1
            answer = await _when_erased(answer, client)
            await _until_found(answer, client)
        except (ReplayError, httpx.HTTPError) as error:
            problems.append(f"{of}{str(error) or type(error).__name__}")
            break
        problems += [f"{of}{problem}" for problem in judge(right or _SUCCESS, status, answer)]
    return Outcome(case, tuple(problems), status, tuple(ids_of(answer)), round(time.monotonic() - started, 3))


async def _send(request: CaseRequest, answer: Any, client: httpx.AsyncClient) -> tuple[int, Any]:
    path, body = _filled(request.path, answer, in_path=True), _filled(request.body, answer)
    response = await client.request(request.method, path, json=body)
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, None


def _is_degraded(answer: Any) -> bool:
    return isinstance(answer, Mapping) and bool(answer.get("degraded"))


def _filled(value: Any, answer: Any, *, in_path: bool = False) -> Any:
    """Return a value of a request with its placeholders filled from the answer before."""
    if isinstance(value, Mapping):
        return {name: _filled(inner, answer) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, answer) for inner in value]
    if not isinstance(value, str):
        return value

    def fill(place: re.Match[str]) -> str:
        text = str(_answered(answer, place[1]))
        return quote(text, safe="") if in_path else text

    return _PLACEHOLDER.sub(fill, value)


def _answered(answer: Any, path: str) -> Any:
    """Return a field of an answer; ``uid`` alone is that of its first item or result."""
    for place in (f"items[0].{path}", f"results[0].{path}") if path == "uid" else (path,):
        try:
            return field_of(answer, place)
        except LookupError:
            continue
    raise ReplayError(f"the answer before has no {path}")


async def _when_erased(answer: Any, client: httpx.AsyncClient) -> Any:
    """Return an answer, or if it is that of an erasure that goes on, the one once it has ended."""
    ends = time.monotonic() + _JOB_SECONDS
    while isinstance(answer, Mapping) and "erasure" in answer and answer.get("status") == "running":
        if time.monotonic() > ends:
            raise ReplayError(f"the erasure still runs after {_JOB_SECONDS:g} seconds")
        await asyncio.sleep(_POLL_SECONDS)
        answer = (await client.get(f"/forget/{quote(str(answer['erasure']), safe='')}")).json()
    return answer


async def _until_found(answer: Any, client: httpx.AsyncClient) -> None:
    """Wait for the job of an answer, if it has one: what it stored is to be found by the next request."""
    job = answer.get("job") if isinstance(answer, Mapping) else None
    if not isinstance(job, str):
        return
    ends = time.monotonic() + _JOB_SECONDS
    while True:
        response = await client.get(f"/ingest/jobs/{quote(job, safe='')}")
        state = response.json().get("status") if response.is_success else f"status {response.status_code}"
        if state == "done":
            return
        if state != "running" or time.monotonic() > ends:
            raise ReplayError(f"what was stored is not found: its job is {state}")
        await asyncio.sleep(_POLL_SECONDS)
