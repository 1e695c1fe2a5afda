"""The embedded stores and the platform's are told the same story, and must tell the same of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from support.answers.comparison import assert_same_answers, same_edges
from support.generators.example_count import TIMES
from support.generators.knowledge_requests import FOLDER, PAGES
from support.generators.requests import BEGINNINGS, INGESTS, KEYS, RETRACTIONS, RETRIEVES, TENANTS, UPDATES, WORDS
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.stores.pairs import Clockwork, Side, embedded, platform
from support.stores.qdrant import server_if_any
from vicw_shared.errors import FixableError
from vicw_shared.wire.ingest import IngestResponse

pytestmark = [pytest.mark.servers, pytest.mark.timeout(4 * 3600)]

STORIES = 12 * TIMES
_STEPS = 25
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Stage:
    """What every story of a run is told with."""

    runner: asyncio.Runner
    room: Path
    neo4j: Neo4jServer
    qdrant: QdrantServer | None
    patch: pytest.MonkeyPatch


def test_embedded_and_platform_stores_answer_alike(
    request: pytest.FixtureRequest, neo4j_server: Neo4jServer, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asyncio.Runner() as runner:

        class Told(Story):
            stage = Stage(runner, store, neo4j_server, server_if_any(request), monkeypatch)

        run_state_machine_as_test(
            Told,
            settings=settings(
                max_examples=STORIES,
                stateful_step_count=_STEPS,
                deadline=None,
                database=None,
                derandomize=TIMES == 1,  # a run by default tells the same stories everywhere; a longer one, new ones
                suppress_health_check=list(HealthCheck),
            ),
        )


class Story(RuleBasedStateMachine):
    """One sequence of requests, each of which both sides must answer alike."""

    stage: ClassVar[Stage]

    def __init__(self) -> None:
        super().__init__()
        self._run = self.stage.runner.run
        self._clock = Clockwork()
        self._clock.install(self.stage.patch)
        self._jobs: list[tuple[str, str]] = []
        self._stack = AsyncExitStack()
        self._sides: list[Side] = []
        self._run(self._open(self.stage))

    async def _open(self, stage: Stage) -> None:
        self._sides = [
            await self._stack.enter_async_context(embedded(stage.room)),
            await self._stack.enter_async_context(platform(stage.neo4j, stage.qdrant)),
        ]
        for side in self._sides:
            # Which passages of one instant come in one batch is each store's affair, and bridges show it.
            side.indexer.batch = _BATCH

    @initialize(first=BEGINNINGS, second=BEGINNINGS, pages=PAGES)
    def begins(self, first: dict[str, Any], second: dict[str, Any], pages: dict[str, Any]) -> None:
        self.ingest(first, "t", None)
        self.ingest(pages, "t", None)
        self.ingest(second, "u", None)

    @rule(request=INGESTS, tenant=TENANTS, key=KEYS)
    def ingest(self, request: dict[str, Any], tenant: str, key: str | None) -> None:
        stored = self._both(lambda side: side.ingest(request, tenant, key))
        if isinstance(stored, IngestResponse) and stored.job is not None:
            self._jobs.append((stored.job, tenant))

    @rule(request=UPDATES, tenant=TENANTS)
    def update(self, request: dict[str, Any], tenant: str) -> None:
        self.ingest(request, tenant, None)

    @rule(pages=PAGES, tenant=TENANTS)
    def file(self, pages: dict[str, Any], tenant: str) -> None:
        self.ingest(pages, tenant, None)

    @rule(folder=FOLDER, tenant=TENANTS)
    def list_a_folder(self, folder: dict[str, Any], tenant: str) -> None:
        self._both(lambda side: side.listed(folder, tenant))

    @rule()
    def expire(self) -> None:
        self._both(lambda side: side.expire())

    @rule(request=RETRACTIONS, tenant=TENANTS)
    def retract(self, request: dict[str, Any], tenant: str) -> None:
        self._both(lambda side: side.retract(request, tenant))

    @rule(requests=st.lists(RETRIEVES, min_size=1, max_size=4), tenant=TENANTS, drained=st.sampled_from([1, 1, 1, 0]))
    def retrieve(self, requests: list[dict[str, Any]], tenant: str, drained: int) -> None:
        if drained:
            self.drain()
        for request in requests:
            self._ask(request, tenant, all_indexed=bool(drained))

    def _ask(self, request: dict[str, Any], tenant: str, *, all_indexed: bool) -> None:
        self._clock.next_operation()
        ours, theirs = (self._run(side.retrieve(request, tenant)) for side in self._sides)
        assert_same_answers(ours, theirs, request["limit"], all_indexed=all_indexed)

    @rule(word=WORDS, request=RETRIEVES, tenant=TENANTS)
    def find_by_words(self, word: str, request: dict[str, Any], tenant: str) -> None:
        self._both(lambda side: side.find(word, request, tenant, self._clock.now))

    @rule()
    def drain(self) -> None:
        self._both(lambda side: side.indexer.drain())

    @rule(tenant=TENANTS)
    def count_what_waits(self, tenant: str) -> None:
        self._both(lambda side: side.graph.outbox.backlog(tenant))

    @precondition(lambda self: self._jobs)
    @rule(which=st.integers(0, 100), tenant=TENANTS)
    def ask_for_a_job(self, which: int, tenant: str) -> None:
        job, owner = self._jobs[which % len(self._jobs)]
        self._both(lambda side: side.job(job, owner))
        self._both(lambda side: side.job(job, tenant))

    # Both engines count the words of deleted points until they tidy up; the local mode does so in a way of its own.
    @precondition(lambda self: self.stage.qdrant is not None)
    @rule(every=st.integers(1, 4))
    def lose_points(self, every: int) -> None:
        self._both(lambda side: side.lose(every))

    @rule()
    def embed_everything_anew(self) -> None:
        self._both(lambda side: side.requeue())

    def teardown(self) -> None:
        try:
            self._both(lambda side: side.nodes())
            same_edges(*(self._run(side.edges()) for side in self._sides))
            self.drain()
            self._both(lambda side: side.nodes())
            same_edges(*(self._run(side.edges()) for side in self._sides))
            self._both(lambda side: side.payloads())
            report = self._both(lambda side: side.check())
            assert report.violations == []
            assert report.waiting == 0
        finally:
            self._run(self._stack.aclose())

    def _both(self, do: Callable[[Side], Awaitable[Any]]) -> Any:
        """Do it on both sides; return what came of it, which must be the same: a result or a refusal."""
        self._clock.next_operation()
        came = [self._run(self._tried(side, do)) for side in self._sides]
        assert came[0] == came[1]
        return came[0]

    async def _tried(self, side: Side, do: Callable[[Side], Awaitable[Any]]) -> Any:
        self._clock.next_side()
        try:
            return await do(side)
        except FixableError as error:
            return type(error), error.detail
