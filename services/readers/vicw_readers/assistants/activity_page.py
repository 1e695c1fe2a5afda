"""Google's activity as a page: the cards of `MyActivity.html`, one at a time, and what each says."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from typing import BinaryIO

from vicw_readers.documents.html.text import readable_text

CARD = "outer-cell"
MAX_CARD_CHARS = 8 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
_START_CHARS = 32
_CARD_START = re.compile(r'<div class="outer-cell\b')
_HEADER = re.compile(r'mdl-typography--title"[^<>]{0,300}>([^<]{0,200})<')
_BODY = re.compile(r'<div class="content-cell[^"<>]{0,300}mdl-typography--body-1"[^<>]{0,300}>')
_NEXT_CELL = re.compile(r'<div class="content-cell')
_BLOCK = re.compile(r"<(?:p|div|ul|ol|h[1-6]|table|pre|blockquote)\b", re.IGNORECASE)
"""What an answer begins with; a prompt has line breaks alone."""
_WHEN = re.compile(
    # Jul 25, 2026, 11:07:57 PM PDT · 18 Sept 2025, 12:02:52 CET · 10 de mai. de 2026, 03:46:09 BRT
    r"(?:^|<br\s*/?>)\s*([^<>]{6,40}?\b\d{1,2}:\d{2}:\d{2}[^<>]{0,24}?)\s*(?=<|$)"
)
_DATE = re.compile(
    r"(?:(?P<month>[^\W\d_]{3,12})\.?\s+(?P<day>\d{1,2})|(?P<day2>\d{1,2})\.?\s+(?:de\s+)?(?P<month2>[^\W\d_]{3,12})\.?),?"
    r"\s+(?:de\s+)?(?P<year>\d{4}),?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"\s*(?P<half>[AaPp]\.?\s?[Mm]\.?)?\s*(?P<zone>\S.*)?"
)
_MONTHS = (
    "jan gen ene", "feb fev fév", "mar mär maa mrt", "apr abr avr", "may mai mag mei maj", "jun giu juin",
    "jul lug juil", "aug ago aoû", "sep set", "oct okt ott out", "nov", "dec dez dic déc",
)  # fmt: skip
"""By their first letters, in English, German, French, Spanish, Portuguese, Italian, Dutch and Nordic languages."""
_HOURS = {
    "UTC": 0.0, "GMT": 0.0, "WET": 0.0, "WEST": 1.0, "BST": 1.0, "CET": 1.0, "MEZ": 1.0, "CEST": 2.0, "MESZ": 2.0,
    "EET": 2.0, "EEST": 3.0, "MSK": 3.0, "JST": 9.0, "KST": 9.0, "AEST": 10.0, "AEDT": 11.0, "BRT": -3.0,
    "EST": -5.0, "EDT": -4.0, "CST": -6.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0, "PDT": -7.0,
}  # fmt: skip
"""Zones by their letters: those of China and India, which others have, too, are not known."""
_OFFSET = re.compile(r"(?:GMT|UTC)?\s*([+\-\u2212])(\d{1,2})(?::?(\d{2}))?$")
_ATTACHED = re.compile(
    r"(?:<br\s*/?>[^<>\d]{0,40}\d{1,3}[^<>]{0,40}\.\s*)?<br\s*/?>\s*-(?:&nbsp;|\s)*+"
    r"<a href=[\"'][^\"'<>]{0,2000}[\"'][^>]{0,200}>([^<]*)</a>"
)
"""A file that came with a prompt, and the line that counts them."""


@dataclass(frozen=True, slots=True)
class ActivityCard:
    """One activity: the product, what was done, when, and what came of it; ``when`` None: it cannot be read.

    ``has_zone`` is False if the page does not say the zone of the time, or by letters that are not known. ``is_cut``:
    what is over `MAX_CARD_CHARS` is missing.
    """

    product: str
    title: str
    when: datetime | None
    has_zone: bool
    answer: str
    attachments: tuple[str, ...]
    is_cut: bool = False


def cards_of(file: BinaryIO, zone: tzinfo) -> Iterator[ActivityCard]:
    """Yield the cards of a page in UTF-8; ``zone`` is that of times without one. Only one card is held."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    text = ""
    while data := file.read(_CHUNK_BYTES):
        text += decoder.decode(data)
        starts = [match.start() for match in _CARD_START.finditer(text)]
        for start, end in pairwise(starts):
            yield _bounded(text[start:end], zone)
        text = text[starts[-1] :] if starts else text[-_START_CHARS:]
        if len(text) > MAX_CARD_CHARS + _START_CHARS:  # the next card may begin where this part ends
            text = text[: MAX_CARD_CHARS + 1] + text[-_START_CHARS:]
    if _CARD_START.match(text):
        yield _bounded(text, zone)


def _bounded(written: str, zone: tzinfo) -> ActivityCard:
    return replace(_card(written[:MAX_CARD_CHARS], zone), is_cut=len(written) > MAX_CARD_CHARS)


def time_of(written: str, zone: tzinfo) -> tuple[datetime | None, bool]:
    """Return the time of a card in UTC, or None, and whether the page says its zone.

    >>> time_of("Jul 25, 2026, 11:07:57\\u202fPM PDT", UTC)[0].isoformat()
    '2026-07-26T06:07:57+00:00'
    """
    found = _DATE.match(" ".join(html.unescape(written).split()))
    if found is None:
        return None, False
    word = (found["month"] or found["month2"]).lower()
    month = next((n for n, names in enumerate(_MONTHS, 1) if word.startswith(tuple(names.split()))), None)
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] in "Pp" else 0)
    said = _zone(found["zone"] or "")
    try:
        time = (int(found["minute"]), int(found["second"]))
        day = int(found["day"] or found["day2"])
        when = datetime(int(found["year"]), month or 0, day, hour, *time, tzinfo=said or zone)
        return when.astimezone(UTC), said is not None
    except (ValueError, OverflowError):
        return None, False


def _zone(written: str) -> tzinfo | None:
    hours = _HOURS.get(written.upper().strip())
    if hours is not None:
        return timezone(timedelta(hours=hours))
    found = _OFFSET.match(written.strip())
    if found is None:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(offset if found[1] == "+" else -offset) if offset < timedelta(hours=24) else None


def _card(written: str, zone: tzinfo) -> ActivityCard:
    header = _HEADER.search(written)
    product = html.unescape(header[1]).strip() if header else ""
    body = _BODY.search(written)
    if body is None:
        return ActivityCard(product, "", None, False, "", ())
    following = _NEXT_CELL.search(written, body.end())
    said = written[body.end() : following.start() if following else len(written)]
    found = _time_in(said, zone)
    if found is None:
        return ActivityCard(product, readable_text(said), None, False, "", ())
    place, when, has_zone = found
    before = said[: place.start()]
    attachments = tuple(html.unescape(name).strip() for name in _ATTACHED.findall(before))
    title = readable_text(_ATTACHED.sub("", before) if attachments else before)
    return ActivityCard(product, title, when, has_zone, readable_text(said[place.end() :]), attachments)


def _time_in(said: str, zone: tzinfo) -> tuple[re.Match[str], datetime, bool] | None:
    """Return where Google's time stands: the last one above the answer. A prompt may have lines of a log, too."""
    block = _BLOCK.search(said)
    answer = block.start() if block else len(said)
    found = None
    for place in _WHEN.finditer(said):
        if found is not None and place.start() >= answer:
            break
        when, has_zone = time_of(place[1], zone)
        if when is not None and (found is None or has_zone >= found[2]):
            found = (place, when, has_zone)
    return found
