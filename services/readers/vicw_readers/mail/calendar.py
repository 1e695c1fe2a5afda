"""Invitations in mails: events of iCalendar (RFC 5545), as far as a memory needs them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9-]+)(?P<params>(?:;[^:;\"=]+=(?:\"[^\"]*\"|[^:;\"]*))*):(?P<value>.*)", re.DOTALL
)
_PARAM = re.compile(r";([^=;:]+)=(?:\"([^\"]*)\"|([^:;\"]*))")
_OFFSET = re.compile(r"([+-])(\d\d)(\d\d)")
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_ESCAPE = re.compile(r"\\([nN,;\\])")
_WINDOWS_ZONES = {
    "UTC": "UTC",
    "GMT Standard Time": "Europe/London",
    "Greenwich Standard Time": "Atlantic/Reykjavik",
    "W. Europe Standard Time": "Europe/Berlin",
    "Central Europe Standard Time": "Europe/Budapest",
    "Central European Standard Time": "Europe/Warsaw",
    "Romance Standard Time": "Europe/Paris",
    "E. Europe Standard Time": "Europe/Chisinau",
    "GTB Standard Time": "Europe/Bucharest",
    "FLE Standard Time": "Europe/Kyiv",
    "Russian Standard Time": "Europe/Moscow",
    "Turkey Standard Time": "Europe/Istanbul",
    "Israel Standard Time": "Asia/Jerusalem",
    "Egypt Standard Time": "Africa/Cairo",
    "South Africa Standard Time": "Africa/Johannesburg",
    "Arab Standard Time": "Asia/Riyadh",
    "Arabian Standard Time": "Asia/Dubai",
    "Iran Standard Time": "Asia/Tehran",
    "Pakistan Standard Time": "Asia/Karachi",
    "India Standard Time": "Asia/Kolkata",
    "Bangladesh Standard Time": "Asia/Dhaka",
    "SE Asia Standard Time": "Asia/Bangkok",
    "China Standard Time": "Asia/Shanghai",
    "Singapore Standard Time": "Asia/Singapore",
    "Taipei Standard Time": "Asia/Taipei",
    "Tokyo Standard Time": "Asia/Tokyo",
    "Korea Standard Time": "Asia/Seoul",
    "W. Australia Standard Time": "Australia/Perth",
    "AUS Eastern Standard Time": "Australia/Sydney",
    "New Zealand Standard Time": "Pacific/Auckland",
    "E. South America Standard Time": "America/Sao_Paulo",
    "Argentina Standard Time": "America/Argentina/Buenos_Aires",
    "SA Pacific Standard Time": "America/Bogota",
    "Newfoundland Standard Time": "America/St_Johns",
    "Atlantic Standard Time": "America/Halifax",
    "Eastern Standard Time": "America/New_York",
    "Central Standard Time": "America/Chicago",
    "Central Standard Time (Mexico)": "America/Mexico_City",
    "Mountain Standard Time": "America/Denver",
    "US Mountain Standard Time": "America/Phoenix",
    "Pacific Standard Time": "America/Los_Angeles",
    "Alaskan Standard Time": "America/Anchorage",
    "Hawaiian Standard Time": "Pacific/Honolulu",
}


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """An event of an invitation. ``starts_at`` without a zone is in the reader's; a whole day starts at midnight."""

    uid: str
    sequence: int
    summary: str
    starts_at: datetime
    ends_at: datetime | None
    is_whole_day: bool
    location: str
    description: str
    organizer: str
    attendees: tuple[str, ...]
    repeats: str
    is_cancelled: bool
    is_answer: bool
    """Somebody accepted or declined; the event is as it was."""


def events_of(calendar: str) -> tuple[list[CalendarEvent], list[str]]:
    """Return the events of a calendar, and why others could not be read."""
    events: list[CalendarEvent] = []
    problems: list[str] = []
    zones: dict[str, tzinfo] = {}
    method = ""
    stack: list[str] = []
    fields: dict[str, list[tuple[dict[str, str], str]]] = {}
    for name, params, value in _content_lines(calendar):
        if name == "BEGIN":
            stack.append(value.upper())
            if stack[-1] in {"VEVENT", "VTIMEZONE"}:
                fields = {}
            continue
        if name == "END":
            ended = stack.pop() if stack else ""
            if ended == "VTIMEZONE":
                _add_zone(zones, fields)
            elif ended == "VEVENT":
                try:
                    events.append(_event(fields, zones, method))
                except (ValueError, OverflowError) as error:
                    problems.append(f"an event cannot be read: {error}")
            continue
        if name == "METHOD":
            method = value.upper()
        # The standard time of a zone, and an event without its alarms
        elif stack[-1:] in (["VEVENT"], ["VTIMEZONE"], ["STANDARD"]):
            fields.setdefault(name, []).append((params, value))
    return events, problems


def event_text(event: CalendarEvent) -> str:
    """Return an event in words."""
    when = f"{event.starts_at:%A, %Y-%m-%d}" if event.is_whole_day else f"{event.starts_at:%A, %Y-%m-%d %H:%M}"
    zone = event.starts_at.tzinfo
    if zone is not None and not event.is_whole_day:
        when += f" ({zone})"
    if event.ends_at and not event.is_whole_day:
        same_day = event.ends_at.date() == event.starts_at.date()
        when += f" to {event.ends_at:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"
    rows = (
        ("When", when),
        ("Repeats", event.repeats),
        ("Where", event.location),
        ("Organizer", event.organizer),
        ("Attendees", ", ".join(event.attendees)),
    )
    head = f"{'Cancelled' if event.is_cancelled else 'Invitation'}: {event.summary}"
    body = f"\n\n{event.description}" if event.description else ""
    return "\n".join([head, *(f"{name}: {value}" for name, value in rows if value)]) + body


def _content_lines(calendar: str) -> list[tuple[str, dict[str, str], str]]:
    unfolded = re.sub(r"\r?\n[ \t]", "", calendar)
    found = []
    for line in unfolded.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            params = {name.upper(): quoted or plain for name, quoted, plain in _PARAM.findall(match["params"])}
            found.append((match["name"].upper(), params, match["value"]))
    return found


def _event(fields: dict[str, list[tuple[dict[str, str], str]]], zones: dict[str, tzinfo], method: str) -> CalendarEvent:
    def text(name: str) -> str:
        return _unescaped(fields[name][0][1]) if name in fields else ""

    if "DTSTART" not in fields:
        raise ValueError("it has no DTSTART")
    starts_at, is_whole_day = _moment(*fields["DTSTART"][0], zones)
    ends_at = _moment(*fields["DTEND"][0], zones)[0] if "DTEND" in fields else None
    if ends_at is None and "DURATION" in fields:
        ends_at = starts_at + _duration(fields["DURATION"][0][1])
    instance = f"#{text('RECURRENCE-ID')}" if "RECURRENCE-ID" in fields else ""
    sequence = text("SEQUENCE")
    return CalendarEvent(
        uid=(text("UID") or f"{text('SUMMARY')}@{starts_at.isoformat()}") + instance,
        sequence=int(sequence) if sequence.isdecimal() else 0,
        summary=text("SUMMARY") or "Event",
        starts_at=starts_at,
        ends_at=ends_at,
        is_whole_day=is_whole_day,
        location=text("LOCATION"),
        description=text("DESCRIPTION").strip(),
        organizer=next(iter(_people(fields.get("ORGANIZER", []))), ""),
        attendees=tuple(_people(fields.get("ATTENDEE", []))),
        repeats=text("RRULE"),
        is_cancelled=method == "CANCEL" or text("STATUS").upper() == "CANCELLED",
        is_answer=method in {"REPLY", "COUNTER", "REFRESH"},
    )


def _people(entries: list[tuple[dict[str, str], str]]) -> list[str]:
    named = (params.get("CN") or re.sub(r"(?i)^mailto:", "", value) for params, value in entries)
    return [name.strip("'\" ") for name in named if name.strip()]


def _moment(params: dict[str, str], value: str, zones: dict[str, tzinfo]) -> tuple[datetime, bool]:
    value = value.strip()
    if params.get("VALUE", "").upper() == "DATE" or "T" not in value:
        return datetime.combine(date.fromisoformat(value), time()), True
    moment = datetime.fromisoformat(value.removesuffix("Z"))
    if value.endswith("Z"):
        return moment.replace(tzinfo=UTC), False
    zone = params.get("TZID", "")
    return moment.replace(tzinfo=_zone(zone, zones) if zone else None), False


def _zone(name: str, zones: dict[str, tzinfo]) -> tzinfo | None:
    for key in (_WINDOWS_ZONES.get(name, name), "/".join(name.strip("/").split("/")[-2:])):
        try:
            return ZoneInfo(key)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return zones.get(name)


def _add_zone(zones: dict[str, tzinfo], fields: dict[str, list[tuple[dict[str, str], str]]]) -> None:
    """Note a zone that the calendar defines itself, by its standard time; zones of known names are known better."""
    match = _OFFSET.match(fields["TZOFFSETTO"][-1][1].strip()) if "TZOFFSETTO" in fields else None
    if match and "TZID" in fields:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        zones[fields["TZID"][0][1]] = timezone(-offset if match[1] == "-" else offset)


def _duration(value: str) -> timedelta:
    match = _DURATION.fullmatch(value.strip().lstrip("+"))
    if match is None:
        raise ValueError(f"{value!r} is no duration")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def _unescaped(value: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value).strip()
