"""Isolation of stages: each stage of a question fails alone (design section "Read path")."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from vicw_shared.errors import RetryableError

_log = structlog.get_logger()


@contextmanager
def isolate(degraded: list[str], stage: str) -> Iterator[None]:
    """Run a stage that may fail alone: whatever it raises ends it and adds its name to ``degraded``."""
    try:
        yield
    except (RetryableError, TimeoutError):
        degraded.append(stage)
    except Exception as error:
        _log.exception("stage failed", stage=stage, error=type(error).__name__)
        degraded.append(stage)
