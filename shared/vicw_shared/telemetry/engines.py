"""Instrumentation of engine operations: duration, errors, and a span for each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from prometheus_client import Counter, Histogram

from vicw_shared.errors import FixableError, VicwError
from vicw_shared.telemetry.spans import SpanRole, span
from vicw_shared.telemetry.stages import SECONDS

CALLS = Histogram("vicw_engine_seconds", "Time of an engine's operation", ["engine", "operation"], buckets=SECONDS)
ERRORS = Counter("vicw_engine_errors_total", "Failed operations of an engine", ["engine", "operation", "error"])
RETRIES = Counter("vicw_engine_retries_total", "Operations retried after a transient failure", ["engine"])


def measured[T](engine: str, *, inside: str = "") -> Callable[[type[T]], type[T]]:
    """Measure the operations of an adapter: the public coroutine methods that the class itself defines, not ``close``.

    ``inside`` is the operation of another class that contains these, the prefix of their names: ``write.put_nodes``.
    """

    def decorate(adapter: type[T]) -> type[T]:
        for name, member in list(vars(adapter).items()):
            if inspect.iscoroutinefunction(member) and not name.startswith("_") and name != "close":
                setattr(adapter, name, _measured(engine, f"{inside}.{name}" if inside else name, member))
        return adapter

    return decorate


def error_kind(error: BaseException) -> str:
    """Return the kind of an error: its slug, or the class of an unexpected error. Never its text."""
    return error.slug if isinstance(error, VicwError) else type(error).__name__


def _measured(engine: str, operation: str, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.cache  # the first call creates the series
    def calls() -> Histogram:
        return CALLS.labels(engine, operation)

    @functools.wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with span(f"{engine}.{operation}", SpanRole.CLIENT), calls().time():
            try:
                return await method(*args, **kwargs)
            except FixableError:
                raise  # the error of a caller's work in a transaction, not the engine's
            except Exception as error:
                ERRORS.labels(engine, operation, error_kind(error)).inc()
                raise

    return call
