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
from vicw_readers.assistants.agents.transcript import TranscriptReader, TranscriptTurn, summarize
from vicw_shared.errors import InvalidInputError, VicwError
from vicw_shared.wire.ingest import IngestRequest, Item
from vicw_standalone.agent_hooks.model import Agent
from vicw_standalone.agent_hooks.recall import SessionPlace
from vicw_standalone.agent_hooks.sessions import Session

_log = structlog.get_logger()
_BATCH = 50
"""Turns of one request: questions go between two of them."""


@dataclass(frozen=True, slots=True)
class Offloaded:
    """How many turns are stored, and in a sentence what could not be read or stored.

    ``is_open``: the transcript was opened.
    """

    stored: int = 0
    problem: str = ""
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
        try:
            offloaded = await offload(turns, agent, place, ports, key)
        except VicwError as error:  # an agent is told of it, and sends no event again
            _log.warning("turns of a session could not be stored", error=error.detail)
            offloaded = Offloaded(problem=error.detail)
        else:
            session.transcript = (identity, reader)
        problem = "; ".join(filter(None, (reader.summary(), offloaded.problem)))
        return Offloaded(offloaded.stored, problem)


async def offload(
    turns: Sequence[TranscriptTurn], source: str, place: SessionPlace, ports: Callable[[], IngestPorts], key: str | None
) -> Offloaded:
    """Store turns in the session's flow. They are durable when this returns, and found a little later.

    A turn that is refused costs no other. Of turns with one id the last is stored. Raises the errors of ``ingest``
    but InvalidInputError.
    """
    problems = list[str]()

    async def store(items: tuple[Item, ...]) -> int:
        try:
            await ingest(IngestRequest(context=place.context, wait=False, items=items), place.tenant, ports(), key=key)
        except InvalidInputError as error:
            if len(items) == 1:
                problems.append(f"turn {items[0].id} cannot be stored: {error.detail}")
                return 0
            middle = len(items) // 2
            return await store(items[:middle]) + await store(items[middle:])
        return len(items)

    by_id = {one.id: one for one in _items(turns, source, place.session, ports().limits.text_chars, problems)}
    stored = sum([await store(batch) for batch in batched(by_id.values(), _BATCH)])
    return Offloaded(stored, summarize(problems))


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
