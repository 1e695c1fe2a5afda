"""Neo4j driver wrapper: managed transactions with retries, and timeouts on every call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import neo4j
from neo4j import AsyncManagedTransaction, Record
from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

from vicw_shared.errors import UnavailableError
from vicw_shared.settings import Neo4jSettings
from vicw_shared.telemetry.engines import RETRIES
from vicw_stores.neo4j.errors import translated

_FIRST_PAUSE_SECONDS = 0.05
"""Pause before retrying a transaction that lost a deadlock; the driver's default, a second, is long for a caller."""

_COLLISIONS = 3
_ALL = -1
"""Fetch size: the server sends all records at once."""


class RunStatement(Protocol):
    """Runs one statement of a transaction."""

    async def __call__(self, query: str, /, **values: Any) -> Sequence[Record]:
        """Return all of the statement's records."""
        ...


class Neo4jDatabase:
    """One driver. Every value is bound as a parameter; query text comes only from the ``cypher`` package."""

    def __init__(self, settings: Neo4jSettings, *, bound: str = "VICW_NEO4J_QUERY_SECONDS") -> None:
        """Open the driver. ``bound`` names the variable that sets ``query_seconds``, for error messages."""
        self._bound = bound
        password = settings.password.get_secret_value() if settings.password is not None else None
        self._name = settings.database
        self._seconds = settings.query_seconds
        self._closed = False
        with translated():
            self._driver = neo4j.AsyncGraphDatabase.driver(
                settings.url,
                auth=(settings.user, password) if password is not None else None,
                max_connection_pool_size=settings.pool,
                connection_timeout=settings.connect_seconds,
                connection_acquisition_timeout=settings.acquire_seconds,
                max_transaction_retry_time=settings.retry_seconds,
                initial_retry_delay=_FIRST_PAUSE_SECONDS,
                # A warning about a label without nodes is expected.
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="vicw",
            )

    async def read(self, query: str, /, **values: Any) -> list[Record]:
        """Run one read statement in its own transaction, within ``query_seconds`` including all retries."""
        with translated():
            try:
                # The client's deadline comes first: the server's own has no effect if the server hangs.
                async with asyncio.timeout(self._seconds) as deadline:
                    return await self._execute(neo4j.Query(query, timeout=self._seconds + 1), values)
            except TimeoutError as error:
                if not deadline.expired():
                    raise
                detail = f"Neo4j: no answer within {self._seconds:g} s ({self._bound})"
                raise UnavailableError("graph", detail) from error

    async def wait(self, query: str, /, **values: Any) -> list[Record]:
        """Run one statement without a time limit."""
        with translated():
            return await self._execute(neo4j.Query(query), values)

    async def _execute(self, query: neo4j.Query, values: dict[str, Any]) -> list[Record]:
        """Run a read statement; the driver retries transient failures."""
        self._require_open()
        try:
            return await self._at_once(query, values)
        except (DriverError, Neo4jError) as error:
            if not error.is_retryable():
                raise
            RETRIES.labels("neo4j").inc()
        result = await self._driver.execute_query(
            query,
            values,
            database_=self._name,
            routing_=neo4j.RoutingControl.READ,
            bookmark_manager_=None,
        )
        return result.records

    async def _at_once(self, query: neo4j.Query, values: dict[str, Any]) -> list[Record]:
        """Run a statement in one round trip: a managed transaction needs a second one for its end."""
        async with self._driver.session(
            database=self._name, default_access_mode=neo4j.READ_ACCESS, fetch_size=_ALL
        ) as session:
            return [record async for record in await session.run(query, values)]

    async def write[T](self, work: Callable[[RunStatement], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction; it may run again, from its start, after a conflict."""
        self._require_open()

        tries = 0

        @neo4j.unit_of_work(timeout=self._seconds)
        async def unit(transaction: AsyncManagedTransaction) -> T:
            nonlocal tries
            tries += 1
            if tries > 1:
                RETRIES.labels("neo4j").inc()

            async def run(query: str, /, **values: Any) -> Sequence[Record]:
                return (await (await transaction.run(query, values)).to_eager_result()).records

            return await work(run)

        with translated():
            async with self._driver.session(database=self._name) as session:
                for _ in range(_COLLISIONS):
                    with suppress(ConstraintError):  # a concurrent writer created the same node or edge
                        return await session.execute_write(unit)
                return await session.execute_write(unit)

    async def define(self, statement: str) -> None:
        """Create a constraint or an index, unless another process has just created it."""
        with translated():
            try:
                await self._driver.execute_query(neo4j.Query(statement), database_=self._name, bookmark_manager_=None)
            except Neo4jError as error:
                if not (error.code or "").endswith("AlreadyExists"):
                    raise

    async def close(self) -> None:
        """Close all connections. Safe to call twice."""
        self._closed = True
        await self._driver.close()

    def _require_open(self) -> None:
        if self._closed:
            raise UnavailableError("graph", "the store is closed")
