"""Structured logs; every line of a request has its request id."""

from __future__ import annotations

import io
import logging
import os
import sys
import uuid
from contextlib import suppress
from typing import TextIO

import structlog

from vicw_shared.settings import LogSettings

REQUEST_ID_HEADER = "X-Request-ID"
_RETRY_MESSAGE = ("neo4j.session", "will be retried")
"""Logger and message of the driver before each retry: after a deadlock, or while Neo4j is down.

They are no failures: a failed last try raises an error.
"""
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logs(settings: LogSettings) -> None:
    """Send logs to standard error: JSON lines, or readable text on a terminal. Child processes use the same level."""
    os.environ["VICW_LOG_LEVEL"] = settings.level
    readable = settings.format == "text" or (settings.format == "auto" and sys.stderr.isatty())
    renderer: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer() if readable else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.level]),
        # Each line is written in one piece, since the embedding process writes to the same file.
        logger_factory=structlog.WriteLoggerFactory(_LossyStream(sys.stderr)),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    if not any(isinstance(handler, _Forward) for handler in root.handlers):
        root.addHandler(_Forward(logging.WARNING))


class _Forward(logging.Handler):
    """Writes warnings of libraries as log lines of this program."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger()
        report = log.error if record.levelno >= logging.ERROR else log.warning
        if record.name == _RETRY_MESSAGE[0] and _RETRY_MESSAGE[1] in record.getMessage():
            report = log.debug
        report(record.getMessage(), logger=record.name, exc_info=record.exc_info)


class _LossyStream(io.TextIOBase, TextIO):
    """Stream that drops a line instead of raising: a closed log or a full disk must not fail a request."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def bind_request_id(sent_id: str | None) -> str:
    """Bind and return the caller's request id if it is valid, or a new one."""
    sane = sent_id is not None and 0 < len(sent_id) <= 128 and sent_id.isascii() and sent_id.isprintable()
    request_id = sent_id if sane and sent_id is not None else uuid.uuid4().hex
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request_id)
    return request_id


def current_request_id() -> str | None:
    """Return the id of the current request, or None."""
    bound = structlog.contextvars.get_contextvars().get("request_id")
    return str(bound) if bound is not None else None
