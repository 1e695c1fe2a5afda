"""The time that an item gives itself, where its caller gives none: daily notes, journal pages, mail, lines of a log."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from vicw_core.language.times.reader import times_in
from vicw_shared.model.text_keys import CODE_SUBTYPES
from vicw_shared.wire.ingest import Item

_NOON = 12
"""Hour, in UTC, of what only gives its day: in nearly every zone it is the same day then."""
_READ_CHARS = 4000
_TITLE_CHARS = 60
_NOTE = re.compile(
    r"(?:^|/)(?P<year>(?:19|20)\d\d)(?P<gap>[-_/]?)(?P<month>0[1-9]|1[0-2])(?P=gap)(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?![\d-]*\d)[^/]*$"
)
"""A path whose last part begins with a day: 2026-03-05.md, 2026_03_05.md, 2026/03/05.md, 20260305 standup.md."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_BESIDE = re.compile(r"[\W_]*(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)?[\W_]*", re.IGNORECASE)
"""What may stand beside a date that is a title."""
_HEADING = re.compile(r"\s*#{1,6}[ \t]+(?P<title>[^\n]*)")
_HEADERS = re.compile(r"\s*(?:[A-Za-z][A-Za-z-]{1,40}:[ \t][^\n]*(?:\n[ \t]+[^\n]*)*\r?\n){2,}")
_DATE = re.compile(r"^Date:[ \t]*([^\n]+)", re.MULTILINE | re.IGNORECASE)
_FROM = re.compile(r"^(?:From|Message-ID|Received):", re.MULTILINE | re.IGNORECASE)
_LOG = re.compile(
    r"""\s*(?:
      \[?(?P<iso>(?:19|20)\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\ ?(?P<zone>Z\b|[+-]\d\d:?\d\d\b)?\]?
    | [^\n\[\]]{0,200}\[(?P<web>\d\d/[A-Z][a-z]{2}/(?:19|20)\d\d:\d\d:\d\d:\d\d\ [+-]\d{4})\]\ "
    | (?P<system>[A-Z][a-z]{2}\ [ \d]\d\ \d\d:\d\d:\d\d)\ [\w.-]+\ [\w./-]+(?:\[\d+\])?:
    )""",
    re.VERBOSE,
)
"""The beginning of a line in a log: ISO 8601, a web server's, syslog's."""


def own_time(item: Item, now: datetime) -> datetime | None:
    """Return the time that an item without a timestamp and a speaker gives itself, in its own zone; None if none.

    A log line's or a mail's is exact, to what it says; UTC where it names no zone. A note, page or section whose path,
    title or heading is a day has that day's noon.
    """
    if item.timestamp is not None or item.speaker is not None or (item.subtype or "").casefold() in CODE_SUBTYPES:
        return None
    text = item.text[:_READ_CHARS]
    with suppress(ValueError, OverflowError):  # the 30th of February; the 25th hour
        if (at := _logged(text, now) or _mailed(text)) is not None:
            at.astimezone(UTC)  # is a time that can be stored
            return at
    return next(_days(item, text, now), None)


def _logged(text: str, now: datetime) -> datetime | None:
    line = _LOG.match(text)
    if line is None:
        return None
    if iso := line["iso"]:
        return _zoned(datetime.fromisoformat(iso + (line["zone"] or "")))
    if web := line["web"]:
        return datetime.strptime(web, "%d/%b/%Y:%H:%M:%S %z")
    # Of the years in which it may be, the last: a log is not of the future.
    at = _zoned(datetime.strptime(f"{now.year} {line['system']}", "%Y %b %d %H:%M:%S"))
    return at if at <= now + timedelta(days=1) else at.replace(year=at.year - 1)


def _mailed(text: str) -> datetime | None:
    headers = _HEADERS.match(text)
    if headers is None or _FROM.search(headers[0]) is None or (date := _DATE.search(headers[0])) is None:
        return None
    return _zoned(email.utils.parsedate_to_datetime(date[1].strip()))


def _days(item: Item, text: str, now: datetime) -> Iterator[datetime]:
    """Yield the days that name the item: its innermost dated heading's, its title's, its path's."""
    heading = _HEADING.match(text)
    titles = [heading["title"]] if heading is not None else []
    titles += reversed((item.name or "").split(" > "))
    for title in titles:
        yield from _titled(title, now)
    for path in (item.page.path if item.page is not None else None, item.source):
        if path is not None and (note := _NOTE.search(path)) is not None:
            with suppress(ValueError):
                yield datetime(int(note["year"]), int(note["month"]), int(note["day"]), _NOON, tzinfo=UTC)


def _titled(title: str, now: datetime) -> Iterator[datetime]:
    """Yield the day that a title is, with its year: "Thursday, March 5, 2026"."""
    title = title.strip()
    if len(title) > _TITLE_CHARS or not _YEAR.search(title):
        return
    for time in times_in(title, now):
        beside = title[: time.begins], title[time.ends :]
        if time.precision == "day" and all(map(_BESIDE.fullmatch, beside)):
            yield time.start.replace(hour=_NOON, minute=0, second=0, microsecond=0, tzinfo=UTC)


def _zoned(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
