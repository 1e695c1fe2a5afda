"""Subagents that worked for a prompt that is not to be stored: their own files do not say so, their parents' do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from vicw_readers.assistants.agents.subagents import AgentFlow, AgentFlows
from vicw_readers.assistants.agents.tool_calls import calls_of, results_of
from vicw_readers.assistants.agents.transcript import CODEX, OFF_MARKER, TranscriptLine, TranscriptReader
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import UnreadableFileError

UNCHECKED = (
    f"is of a subagent, and whether it worked for a prompt with {OFF_MARKER} is not known, as the session that "
    "started it is not there. Name the folder that holds both to have it checked"
)
_PIECE_BYTES = 1 << 20
_ID_CHARS = 36
"""Length of a thread's id, with which the name of Codex' file of it ends."""


@dataclass(slots=True)
class MutedFlows:
    """Which flows of a file are of a muted prompt. ``is_unchecked``: of one the parent is not there."""

    source: SourceFile
    reader: TranscriptReader
    is_unchecked: bool = False
    _known: dict[str, bool] = field(default_factory=dict)
    _is_session: bool = False

    def has(self, line: TranscriptLine, flow: AgentFlow) -> bool:
        """Return whether a flow, whose lines come in order, is muted. A session is not: only some of its lines are."""
        if flow.parent is None:
            self._is_session = True
            return False
        if flow.id not in self._known:
            self._known[flow.id] = line.is_muted or (not self._is_session and self._is_begun_muted(flow))
        return self._known[flow.id]

    def _is_begun_muted(self, flow: AgentFlow) -> bool:
        is_codex = self.reader.agent == CODEX
        started = {flow.id.rpartition("/agent-")[2], flow.call}
        above, passed = flow.parent, set[str]()
        while above is not None and above not in passed:
            passed.add(above)
            file = _rollout(self.source, above) if is_codex else _session_file(self.source, self.reader)
            prompts = _prompts(file) if file is not None else None
            if prompts is None:
                self.is_unchecked = True
                return False
            if prompts.mutes(started):
                return True
            started, above = {above}, prompts.parent
        return False


@dataclass(frozen=True, slots=True)
class _Prompts:
    """What a session says of calls and agents: ids of all, and of those of ``muted`` prompts, if it ``has_muted``."""

    has_muted: bool
    muted: frozenset[str]
    named: frozenset[str]
    parent: str | None

    def mutes(self, started: set[str | None]) -> bool:
        """Return whether an agent is of a muted prompt. Where nothing tells of which, one in the session is enough."""
        return self.has_muted and (not started.isdisjoint(self.muted) or started.isdisjoint(self.named))


def _prompts(file: SourceFile) -> _Prompts | None:
    """Return what a session says, read once an import; None if it cannot be read."""
    known, key = file.options.run.known, f"prompts of {file.path} {file.member}"
    if key not in known:
        try:
            with file.open() as opened:
                known[key] = _read(opened)
        except (OSError, UnreadableFileError):
            known[key] = None
    prompts: _Prompts | None = known[key]
    return prompts


def _read(file: BinaryIO) -> _Prompts:
    is_marked, has_muted = _is_marked(file), False
    reader = TranscriptReader("")
    flows, parent = AgentFlows(reader), None
    muted, named = set[str](), set[str]()
    for number, line in enumerate(reader.lines(file)):
        if number == 0 and reader.agent == CODEX:
            parent = flows.of(line).parent
        if not is_marked:
            break
        ids = {call.id for call in calls_of(line)} | {agent for *_, agent in results_of(line.fields) if agent}
        named |= ids
        if line.is_muted:
            has_muted = True
            muted |= ids
    return _Prompts(has_muted, frozenset(muted), frozenset(named), parent)


def _is_marked(file: BinaryIO) -> bool:
    """Return whether the marker stands anywhere; most sessions have none, and are not read as lines for it."""
    marker, end = OFF_MARKER.encode(), b""
    while piece := file.read(_PIECE_BYTES):
        if marker in end + piece:
            return True
        end = piece[-len(marker) :]
    return False


def _session_file(source: SourceFile, reader: TranscriptReader) -> SourceFile | None:
    """Return the file of Claude Code's session that a subagent's is of: beside it, or beside a folder above it."""
    session = reader.own_session or reader.session
    here = PurePosixPath(source.member or source.name)
    above = next((n for n, folder in enumerate(here.parents, 1) if folder.name == session), 0)
    return source.beside(f"{'../' * above}{session}.jsonl") if here.stem != session else None


def _rollout(source: SourceFile, thread: str) -> SourceFile | None:
    """Return Codex' file of a thread, if it is below what was named, or beside the file that was."""
    key = f"threads of {source.path if source.archive else _root(source)}"
    known = source.options.run.known
    if key not in known:
        known[key] = dict(_threads(source))
    threads: dict[str, SourceFile] = known[key]
    return threads.get(thread)


def _threads(source: SourceFile) -> Iterator[tuple[str, SourceFile]]:
    if source.archive is not None:
        files = (replace(source, member=name) for name in source.archive.names)
    else:
        root = _root(source)
        pattern = "**/rollout-*.jsonl" if root in source.options.run.folders else "rollout-*.jsonl"
        files = (replace(source, path=path) for path in root.glob(pattern) if path.is_file() and not path.is_symlink())
    for file in files:
        name = PurePosixPath(file.member or file.path.name).name
        if name.startswith("rollout-") and name.endswith(".jsonl"):
            yield name.removeprefix("rollout-").removesuffix(".jsonl")[-_ID_CHARS:], file


def _root(source: SourceFile) -> Path:
    return source.path.parents[source.name.count("/")]
