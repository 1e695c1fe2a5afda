"""Offloading of a session's turns from its transcript."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from pathlib import Path
from typing import BinaryIO

import structlog
from pydantic import ValidationError

from vicw_core.background import in_thread
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_shared.errors import VicwError
from vicw_shared.wire.ingest import IngestRequest, Item
from vicw_standalone.agent_hooks.model import Agent
from vicw_standalone.agent_hooks.recall import SessionPlace
from vicw_standalone.agent_hooks.sessions import Session
from vicw_standalone.agent_hooks.transcript import TranscriptReader, TranscriptTurn

_log = structlog.get_logger()
_BATCH = 50
"""Turns of one request: questions go between two of them."""


@dataclass(frozen=True, slots=True)
class Offloaded:
    """How many turns are stored, and in a sentence what could not be read or stored.

    ``is_complete``: sent again, they would be as they are; else the stores have failed. ``is_open``: the transcript was
    opened.
    """

    stored: int = 0
    problem: str = ""
    is_complete: bool = True
    is_open: bool = True


def transcript_folder(agent: Agent) -> Path:
    """Return the folder below which an agent of this user keeps its transcripts."""
    if agent is Agent.CODEX:
        return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"


def open_transcript(path: str, agent: Agent) -> BinaryIO | None:
    """Open a transcript that a request names; None if it is none of this user's agent.

    It has to be a regular ``.jsonl`` file of this user below the agent's own folder, links resolved. What was opened
    is checked again, so that no link can take its place meanwhile.
    """
    try:
        real, folder = os.path.realpath(path, strict=True), os.path.realpath(transcript_folder(agent), strict=True)
        if not real.endswith(".jsonl") or os.path.commonpath((real, folder)) != folder:
            return None
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        file = os.fdopen(os.open(real, flags), "rb")
    except (OSError, ValueError):
        return None
    if not _is_own(os.fstat(file.fileno())) or os.path.realpath(path) != real:
        file.close()
        return None
    return file


def _is_own(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid())


async def offload_transcript(
    path: str, agent: Agent, place: SessionPlace, session: Session, ports: Callable[[], IngestPorts], key: str | None
) -> Offloaded:
    """Store the turns of a transcript that are not stored yet. The same transcript may be given again and again.

    How far it was read is remembered in the process alone; read anew from its beginning, its turns are ``unchanged``.
    """
    async with session.offloading:
        file = await in_thread(open_transcript, path, agent)
        if file is None:
            return Offloaded(problem=f"{path} is no transcript of {agent} that this server may open", is_open=False)
        with file:
            identity = (path, os.fstat(file.fileno()).st_ino)
            known = session.transcript
            known_reader = known[1] if known is not None and known[0] == identity else None
            if known_reader is not None and known_reader.offset <= os.fstat(file.fileno()).st_size:
                reader = known_reader
            else:
                reader = TranscriptReader(place.session)
            session.transcript = None  # until its turns are stored
            turns = await in_thread(lambda: list(reader.read(file)))
        stored = await offload(turns, agent, place, ports, key)
        if stored.is_complete:
            session.transcript = (identity, reader)
        problem = "; ".join(filter(None, (reader.summary(), stored.problem)))
        return Offloaded(stored.stored, problem, stored.is_complete)


async def offload(
    turns: Sequence[TranscriptTurn], source: str, place: SessionPlace, ports: Callable[[], IngestPorts], key: str | None
) -> Offloaded:
    """Store turns in the session's flow. They are durable when this returns, and found a little later."""
    stored, problems, is_complete = 0, list[str](), True
    try:
        limits = ports().limits
        items = list(_items(turns, source, place.session, limits.text_chars, problems))
        for batch in batched(items, _BATCH):
            request = IngestRequest(context=place.context, wait=False, items=batch)
            await ingest(request, place.tenant, ports(), key=key)
            stored += len(batch)
    except VicwError as error:
        _log.warning("turns of a session could not be stored", error=error.detail)
        problems.append(error.detail)
        is_complete = False
    return Offloaded(stored, "; ".join(problems), is_complete)


def _items(
    turns: Iterable[TranscriptTurn], source: str, session: str, chars: int, problems: list[str]
) -> Iterable[Item]:
    for turn in turns:
        try:
            yield Item.model_validate(
                {
                    "id": turn.id,
                    "text": turn.text[:chars],
                    "subtype": "message",
                    "speaker": turn.speaker,
                    "timestamp": _time(turn.timestamp),
                    "flow_id": session,
                    "source": source,
                }
            )
        except ValidationError as error:  # one turn must not cost the others
            problems.append(f"turn {turn.id} cannot be stored: {error.errors()[0]['msg']}")


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
