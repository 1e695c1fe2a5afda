"""What the ``.gitignore`` of a folder leaves out, as Git reads it.

`pathspec` decides for a whole path at once, so that a pattern for a folder also decides for what is below it, and its
expressions take exponential time for a pattern with many stars. Here each entry is asked for alone, from the top down,
as Git does: whoever asks enters no folder that is left out.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_IGNORE_BYTES = 256 * 1024
_FILES = (".git/info/exclude", ".gitignore")
"""Files with patterns of what to leave out, in a folder; the later one counts."""
_PIECE = re.compile(r"(?s)(?P<escaped>\\.)|(?P<set>\[[!^]?(?:\]|(?:\[:\w+:\]))?(?:\[:\w+:\]|\\.|[^]\\])*\])|(?P<one>.)")
_CLASS = re.compile(r"\[:(\w+):\]")
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
    "space": " \t\n\r\f\v",
    "blank": " \t",
}

type _Segment = Callable[[str], object] | None
"""Tells whether it matches a name; None: any number of folders."""


class BadIgnoreError(Exception):
    """A pattern that matches nothing in Git, or a file of patterns that cannot be read."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    segments: tuple[_Segment, ...]
    is_kept: bool
    is_of_folders: bool

    def matches(self, parts: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether the pattern is of this very entry, and not only of a folder above it.

        Going back to the last ``**`` alone is enough, so time grows with the product of both lengths at most.
        """
        if self.is_of_folders and not is_folder:
            return False
        at, part, star, begun = 0, 0, -1, 0
        while part < len(parts):
            segment = self.segments[at] if at < len(self.segments) else _nothing
            if segment is None:
                star, begun, at = at, part, at + 1
            elif segment(parts[part]):
                at, part = at + 1, part + 1
            elif star >= 0:
                begun += 1
                at, part = star + 1, begun
            else:
                return False
        return all(segment is None for segment in self.segments[at:])


@dataclass(frozen=True, slots=True)
class GitIgnore:
    """The patterns of one folder. ``problems`` are lines without effect, each with the file, its number and why."""

    folder: Path
    patterns: tuple[_Pattern, ...]
    problems: tuple[tuple[Path, int, str], ...]

    @classmethod
    def of(cls, folder: Path) -> GitIgnore | None:
        """Return the patterns of a folder; None if it has none.

        Raises BadIgnoreError if they cannot be read: what they hide must not be read for that.
        """
        patterns, problems = list[_Pattern](), list[tuple[Path, int, str]]()
        for file in (folder / name for name in _FILES):
            for number, line in enumerate(_lines(file), 1):
                try:
                    patterns += _pattern(line)
                except BadIgnoreError as error:
                    problems.append((file, number, str(error)))
        return cls(folder, tuple(reversed(patterns)), tuple(problems)) if patterns or problems else None

    def leaves_out(self, path: Path, *, is_folder: bool) -> bool | None:
        """Return whether an entry below the folder is left out; None if no pattern is of it."""
        parts = path.relative_to(self.folder).parts
        return next((not one.is_kept for one in self.patterns if one.matches(parts, is_folder=is_folder)), None)


def _nothing(name: str) -> bool:
    return False


def _lines(file: Path) -> list[str]:
    try:
        if not file.exists():
            return []
        if not file.is_file():  # a pipe could wait for ever
            raise BadIgnoreError(f"its {file.name} is no file")
        with file.open("rb") as opened:
            data = opened.read(MAX_IGNORE_BYTES + 1)
    except OSError as error:
        raise BadIgnoreError(f"its {file.name} cannot be read: {error.strerror}") from None
    if len(data) > MAX_IGNORE_BYTES:
        raise BadIgnoreError(f"its {file.name} is longer than {MAX_IGNORE_BYTES} bytes")
    return [line.removesuffix("\r") for line in data.decode("utf-8-sig", "replace").split("\n")]


def _pattern(line: str) -> Iterator[_Pattern]:
    """Yield the pattern of a line, if it has one. Raises BadIgnoreError for one that matches nothing."""
    if not line or line.startswith("#"):
        return
    text = line.rstrip(" ")
    if (len(text) - len(text.rstrip("\\"))) % 2 and text != line:
        text += " "  # escaped
    if not text:
        return
    is_kept = text.startswith("!")
    text = text.removeprefix("!")
    is_of_folders = text.endswith("/")
    text = text.removesuffix("/")
    is_anchored = "/" in text
    names = text.removeprefix("/").split("/")
    if not all(names):
        raise BadIgnoreError("is a pattern without effect: it has an empty name")
    segments: list[_Segment] = [] if is_anchored else [None]
    for number, name in enumerate(names, 1):
        is_any = name == "**" and is_anchored
        if not is_any or number == len(names):
            if is_any:
                segments.append(None)
            segments.append(_segment("*" if is_any else name))
        elif not segments or segments[-1] is not None:
            segments.append(None)
    yield _Pattern(tuple(segments), is_kept, is_of_folders)


def _segment(name: str) -> Callable[[str], object]:
    """Return what tells whether a name matches. The library's expressions never go back over a star."""
    translated, is_plain = "", True
    for piece in _PIECE.finditer(name):
        if piece["escaped"]:
            translated += _literal(piece["escaped"][1])
        elif piece["set"]:
            body = _CLASS.sub(lambda found: _CLASSES.get(found[1], ""), piece["set"][1:-1])
            translated += f"[{'!' + body[1:] if body.startswith('^') else body}]"
            is_plain = False
        elif piece["one"] in {"[", "\\"}:
            why = "a bracket has no end" if piece["one"] == "[" else "it ends with a backslash"
            raise BadIgnoreError(f"is a pattern without effect: {why}")
        else:
            translated += piece["one"]
            is_plain = is_plain and piece["one"] not in "*?"
    if is_plain:
        return re.sub(r"\[(.)\]", r"\1", translated).__eq__
    return re.compile(fnmatch.translate(translated)).match


def _literal(character: str) -> str:
    return f"[{character}]" if character in "*?[" else character
