"""Reader of subtitles: what is said, in pieces with their times; a file is a flow."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vicw_core.markdown.note_titles import note_title
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, bounded_id, bounded_name

_TIME = r"(?:(\d+):)?(\d\d?):(\d\d)[.,](\d{1,3})"
_CUE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_NAMED = re.compile(r"(?:>>\s*)?([A-Z][\w.' -]{1,30}):\s+(?=\S)")
_MARKS = re.compile(r"<[^>]*>|\{\\[^}]*\}")
_PIECE_CHARS = 800
_PAUSE_SECONDS = 20
"""Silence that ends a piece."""


@dataclass(slots=True)
class _Piece:
    start: float
    end: float
    speaker: str
    texts: list[str]
    line: int


class SubtitleReader:
    """Pieces of subtitles."""

    name = "subtitles"
    title = "subtitles"
    files = ("*.srt", "*.vtt")
    keeps = "what is said, in pieces with start and end, and the speaker where named; a file is a flow"
    leaves = "styles, places on the screen, notes"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether its first lines are those of subtitles: WEBVTT, or a number and a time."""
        first = [line.strip() for line in start.lines[:20] if line.strip()]
        is_srt = len(first) > 1 and first[0].isdigit() and bool(_CUE.match(first[1]))
        return bool(first) and (first[0].startswith("WEBVTT") or is_srt)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the pieces of a file."""
        step = 0
        starts: Counter[str] = Counter()
        for piece in _pieces(source):
            step += 1
            start, end = _clock(piece.start), _clock(piece.end)
            starts[start] += 1
            again = f".{starts[start]}" if starts[start] > 1 else ""  # two may speak in one second
            yield source.item(
                {
                    "id": bounded_id(f"{source.name}#t={start}{again}"),
                    "text": " ".join(piece.texts),
                    "name": bounded_name(f"{note_title(source.name)}, {start}"),
                    "subtype": "section",
                    "speaker": bounded_name(piece.speaker),
                    "flow_id": bounded_id(source.name),
                    "flow_step": step,
                    "source": bounded_id(source.name),
                    "metadata": {"start": start, "end": end},
                },
                line=piece.line,
            )
        if not step:
            raise NothingToReadError("has no subtitles")


def _pieces(source: SourceFile) -> Iterator[_Piece]:
    piece: _Piece | None = None
    for start, end, text, line in _cues(source):
        voice = _VOICE.search(text) or _NAMED.match(text)
        speaker = html.unescape(voice[1]).strip() if voice else ""
        named = text[voice.end() :] if voice and voice.re is _NAMED else text
        said = " ".join(html.unescape(_MARKS.sub("", named)).split())
        if not said:
            continue
        is_other = bool(speaker) and piece is not None and speaker != piece.speaker
        if piece and (is_other or start - piece.end > _PAUSE_SECONDS or _chars(piece) + len(said) > _PIECE_CHARS):
            yield piece
            speaker = speaker or ("" if start - piece.end > _PAUSE_SECONDS else piece.speaker)
            piece = None
        if piece is None:
            piece = _Piece(start, end, speaker, [], line)
        if piece.texts[-1:] != [said]:  # a line that stays while the next comes is said once
            piece.texts.append(said)
        piece.end = max(piece.end, end)
    if piece:
        yield piece


def _chars(piece: _Piece) -> int:
    return sum(map(len, piece.texts))


def _cues(source: SourceFile) -> Iterator[tuple[float, float, str, int]]:
    """Yield start, end, text and line of each cue."""
    cue: tuple[float, float, int] | None = None
    texts: list[str] = []
    for number, line in enumerate(source.lines(), 1):
        match = _CUE.match(line)
        if not match and line.strip():
            texts.append(line.strip())
            continue
        if cue:
            yield cue[0], cue[1], " ".join(texts), cue[2]
            cue = None
        texts = []
        if match:
            cue = (_seconds(match.groups()[:4]), _seconds(match.groups()[4:]), number)
    if cue:
        yield cue[0], cue[1], " ".join(texts), cue[2]


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
