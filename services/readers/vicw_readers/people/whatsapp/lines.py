"""The lines of a WhatsApp export: which begin a message, and with what time and speaker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vicw_readers.people.whatsapp.dates import WrittenTime
from vicw_readers.people.whatsapp.locales import DAY_HALVES
from vicw_readers.people.whatsapp.phrases import is_sealed, names_an_act, unmarked

MAX_MESSAGE_CHARS = 1_000_000
_SHOWN_LINES = 60

_MARK = r"[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]*"
_SPACE = r"[ \u00a0\u202f]"
_WORDS = "|".join(
    r"[ \u00a0\u202f]?".join(map(re.escape, word.split())) for word in sorted(DAY_HALVES, key=len, reverse=True)
)
_DATE = (
    rf"(?P<first>[RHS]?\d{{1,4}}){_MARK}(?P<separator>[./年-]|년){_MARK}{_SPACE}?(?P<second>\d{{1,2}}){_MARK}(?:[./月-]|월)"
    rf"{_MARK}{_SPACE}?(?P<third>[RHS]?\d{{1,4}})(?:[日.]|일)?(?:{_SPACE}?(?:BE|г\.|р\.))?"
)
_TIME = (
    rf"(?:(?P<before>{_WORDS}){_SPACE}?)?(?P<hour>\d{{1,2}})(?:[:.]|{_SPACE}h{_SPACE})(?P<minute>\d{{2}})"
    rf"(?:[:.](?P<seconds>\d{{2}}))?(?:{_MARK}{_SPACE}{{0,2}}{_MARK}(?P<after>{_WORDS}))?"
)
_AT = rf"(?:(?:klo|kl\.?|um|à|às|at|saat|alle){_SPACE})?"
_JOIN = rf"{_MARK}(?:[,،]{_SPACE}?|{_SPACE}{{1,2}}){_AT}{_MARK}"
FORMS = {
    "iOS": re.compile(rf"{_MARK}\[{_MARK}{_DATE}{_JOIN}{_TIME}{_MARK}\]{_SPACE}?", re.IGNORECASE),
    "iOS, time first": re.compile(rf"{_MARK}\[{_MARK}{_TIME}{_JOIN}{_DATE}{_MARK}\]{_SPACE}?", re.IGNORECASE),
    "Android": re.compile(rf"{_MARK}{_DATE}{_JOIN}{_TIME}{_MARK}(?: [-–]{_SPACE}|: )", re.IGNORECASE),
    "Android, Korean": re.compile(rf"{_MARK}{_DATE}{_JOIN}{_TIME}{_MARK}, ", re.IGNORECASE),
}
"""What begins a message, by phone."""
_SPEAKER = re.compile(r"([^:\n]{1,120}?) ?: ?(?!//)")
_LEVEL = re.compile(r"\b(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|NOTICE|FATAL|CRITICAL)\W*$", re.IGNORECASE)
"""What stands before the colon in logs, where a chat has its speaker."""
_BEGINS = re.compile(r"[\[\dRHS\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as written: ``speaker`` is None for lines of the app alone; ``text`` has its marks and all lines."""

    line: int
    time: WrittenTime
    speaker: str | None
    text: str
    is_too_long: bool = False


def form_of(lines: Iterable[str]) -> str | None:
    """Return the form of an export by its first lines, or None if it is another text.

    The first line with words begins a message; in between, texts may have lines of their own.
    """
    for line in _first(lines):
        if line.strip():
            return next((name for name, form in FORMS.items() if form.match(line)), None)
    return None


def looks_like_whatsapp(lines: list[str], *, is_named_so: bool) -> bool:
    """Return whether the first lines of a text are of an export, not of a log with similar times.

    A file that is not named as one must have the app's marks or words, or a date that logs do not write.
    """
    form = form_of(lines)
    if form is None:
        return False
    heads = [match for line in lines if (match := FORMS[form].match(line))]
    if is_named_so:
        return True
    said = [_SPEAKER.match(line, match.end()) for line, match in _headed(lines, FORMS[form])]
    speakers = [match[1] for match in said if match]
    if 2 * sum(bool(_LEVEL.search(speaker)) for speaker in speakers) >= len(speakers):
        return False
    # A log may speak of encryption, too, but under the name of what wrote the line.
    sealed = (line for (line, _), match in zip(_headed(lines, FORMS[form]), said, strict=True) if match is None)
    is_marked = any("\u200e" in line or "<Media omitted>" in line for line in lines) or any(map(is_sealed, sealed))
    return is_marked or all(len(head["first"]) < 3 and head["separator"] != "-" for head in heads)


def raw_messages(lines: Iterable[str], form: str) -> Iterator[RawMessage]:
    """Yield the messages of an export; lines before the first are none of any.

    A line in the form of the other phone is somebody's words. No more than `MAX_MESSAGE_CHARS` of a message are kept.
    """
    pattern = FORMS[form]
    begun: tuple[int, WrittenTime, str | None] | None = None
    parts: list[str] = []
    size, overfull = 0, False
    for number, line in enumerate(lines, 1):
        match = pattern.match(line) if _BEGINS.match(line) else None
        if match is None:
            size += len(line)
            if size <= MAX_MESSAGE_CHARS:
                parts.append(line)
            else:
                overfull = True
            continue
        if begun is not None:
            yield RawMessage(*begun, "".join(parts).rstrip("\r\n"), overfull)
        speaker, text = _divided(line, match.end())
        begun, parts, size, overfull = (number, _time(match), speaker), [text], len(text), False
    if begun is not None:
        yield RawMessage(*begun, "".join(parts).rstrip("\r\n"), overfull)


def _first(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == _SHOWN_LINES:
            return
        yield line


def _headed(lines: list[str], form: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    for line in lines:
        if match := form.match(line):
            yield line, match


def _time(match: re.Match[str]) -> WrittenTime:
    separator = match["separator"]
    return WrittenTime(
        match["first"],
        match["second"],
        match["third"].upper(),
        "/" if separator in "年년" else separator,
        match["hour"],
        match["minute"],
        match["seconds"],
        match["before"] or match["after"],
    )


def _divided(line: str, start: int) -> tuple[str | None, str]:
    match = _SPEAKER.match(line, start)
    if match is None or names_an_act(match[1]):
        return None, line[start:]
    speaker = unmarked(match[1]).strip().removeprefix("~").strip()
    return speaker or None, line[match.end() :]
