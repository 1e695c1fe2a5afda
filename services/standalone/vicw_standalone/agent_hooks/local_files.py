"""Files of the agents of this machine: their transcripts, and the folders that they work in."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import structlog

from vicw_core.background import in_thread
from vicw_core.project_context import folder_context
from vicw_readers.assistants.agents.transcript import TranscriptReader
from vicw_retrieval.agent_hooks.model import Agent, Offloaded, SessionPlace
from vicw_retrieval.agent_hooks.port import TurnWriter
from vicw_retrieval.agent_hooks.sessions import Sessions
from vicw_retrieval.agent_hooks.turns import offload
from vicw_shared.errors import VicwError
from vicw_shared.settings import HookSettings
from vicw_standalone.agent_hooks.project import is_off

_log = structlog.get_logger()


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


@dataclass(slots=True)
class _Reading:
    """How far a session's transcript is read, under the file's path and inode; ``lock`` is held meanwhile."""

    transcript: tuple[tuple[str, int], TranscriptReader] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class LocalAgentFiles:
    """The files of this user's agents. Transcripts are opened if the settings say so."""

    def __init__(self, settings: HookSettings) -> None:
        self._settings = settings
        self._readings = Sessions(settings.sessions, _Reading)

    def is_off(self, folder: str) -> bool:
        """Return whether memory is switched off in a folder."""
        return is_off(folder)

    def context_of(self, folder: str) -> str:
        """Return the context of a folder; the empty text if it has none."""
        return folder_context(folder)

    async def offload(self, path: str, agent: Agent, place: SessionPlace, writer: TurnWriter, chars: int) -> Offloaded:
        """Store the turns of a transcript that are not stored yet. The same one may be given again and again.

        How far it was read is remembered in the process alone; read anew from its beginning, its turns are
        ``unchanged``.
        """
        if not self._settings.read_transcripts:
            return Offloaded(is_open=False)
        reading = self._readings.of(place)
        async with reading.lock:
            file = await in_thread(open_transcript, path, agent)
            if file is None:
                return Offloaded(problem=f"{path} is no transcript of {agent} that this server may open", is_open=False)
            with file:
                identity = (path, os.fstat(file.fileno()).st_ino)
                known = reading.transcript
                known_reader = known[1] if known is not None and known[0] == identity else None
                if known_reader is not None and known_reader.offset <= os.fstat(file.fileno()).st_size:
                    reader = known_reader
                else:
                    reader = TranscriptReader(place.session)
                reading.transcript = None  # until its turns are stored
                turns = await in_thread(lambda: list(reader.read(file)))
            try:
                offloaded = await offload(turns, agent, place, writer, chars)
            except VicwError as error:  # an agent is told of it, and sends no event again
                _log.warning("turns of a session could not be stored", error=error.detail)
                offloaded = Offloaded(problem=error.detail)
            else:
                reading.transcript = (identity, reader)
            return Offloaded(offloaded.stored, "; ".join(filter(None, (reader.summary(), offloaded.problem))))
