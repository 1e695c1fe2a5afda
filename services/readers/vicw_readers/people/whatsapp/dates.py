"""Which of a date's numbers is the day, decided over a whole chat."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime

from vicw_readers.people.whatsapp.locales import LOCALES, DayHalf, day_half

_ORDERS = ("dmy", "mdy", "ymd")
_BUDDHIST_FROM, _BUDDHIST_LEAD = 2400, 543
_OTHER_CALENDARS = range(100, 1700)
_ERAS = {"R": 2018, "H": 1988, "S": 1925}


class WrongDateError(ValueError):
    """A date that no calendar has, or a calendar that is not read. The message says which."""


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """A date and time as a phone wrote them: three numbers in an unknown order, a clock, the word for the half day."""

    first: str
    second: str
    third: str
    separator: str
    hour: str
    minute: str
    second_of_minute: str | None
    half: str | None

    def at(self, order: str) -> datetime:
        """Return the local time, with the date's numbers in ``order``. Raises WrongDateError."""
        day = date_of((self.first, self.second, self.third), order)
        hour = int(self.hour)
        if self.half:
            hour = _in_24_hours(hour, day_half(self.half))
        try:
            return datetime(day.year, day.month, day.day, hour, int(self.minute), int(self.second_of_minute or 0))
        except ValueError:
            raise WrongDateError(f"has no such time of day: {self.hour}:{self.minute}") from None


@dataclass(frozen=True, slots=True)
class Decision:
    """The order of a chat's dates, and what decided it: ``assumed`` is None if the dates themselves did."""

    order: str
    assumed: str | None = None


class DateSurvey:
    """What the dates of a whole chat say about their order, one at a time."""

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._latest: dict[str, date] = {}
        self._impossible: Counter[str] = Counter()
        self._backwards: Counter[str] = Counter()
        self._shapes: set[tuple[int, str]] = set()
        self._separators: Counter[str] = Counter()
        self._halves: set[str] = set()

    def add(self, time: WrittenTime) -> None:
        """Count the next date of the chat, in its order."""
        if time.half:
            self._halves.add(" ".join(time.half.split()))
        fields = (time.first, time.second, time.third)
        if fields == self._last:
            return
        self._last = fields
        self._separators[time.separator] += 1
        self._shapes |= {(place, _shape(text)) for place, text in enumerate(fields)}
        for order in _ORDERS:
            try:
                day = date_of(fields, order)
            except WrongDateError:
                self._impossible[order] += 1
                continue
            latest = self._latest.setdefault(order, day)
            self._backwards[order] += day < latest
            self._latest[order] = day

    def decide(self) -> Decision:
        """Return the order under which most dates exist; of those, in which they go forwards; of those, the locale's.

        If all that leaves two, the day is taken to stand first, and the decision says so.
        """
        orders = _fewest(_ORDERS, self._impossible)
        if len(orders) > 1:
            orders = _fewest(orders, self._backwards)
        if len(orders) == 1:
            return Decision(orders[0])
        locales = {name: order for name, order in self._locales().items() if order in orders}
        found = set(locales.values())
        if len(found) == 1:
            [order] = found
            return Decision(order, f"dates read as {_SPELLED[order]}, as phones write them in {', '.join(locales)}")
        return Decision("dmy", f"dates read as {_SPELLED['dmy']}: nothing in the file says which number is the day")

    def _locales(self) -> dict[str, str]:
        """Return the locales that write dates like these, with their orders."""
        separator = self._separators.most_common(1)[0][0] if self._separators else "/"
        likely: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for name, (pattern, words) in LOCALES.items():
            parts = _fields_of(pattern)
            if separator not in pattern or not all(_fits(text, parts[place]) for place, text in self._shapes):
                continue
            likely[name] = _order_of(parts)
            # The hours are a setting of the phone, the words are the locale's.
            if self._halves and self._halves <= set(words.split("/")):
                spelled[name] = likely[name]
        return spelled or likely


_SPELLED = {"dmy": "day, month, year", "mdy": "month, day, year", "ymd": "year, month, day"}


def date_of(fields: tuple[str, str, str], order: str) -> date:
    """Return the date of three numbers in ``order``. Raises WrongDateError.

    Years of two digits are of this century; of the Buddhist and the Japanese calendar they are converted.
    """
    numbers = dict(zip(order, fields, strict=True))
    year = _year(numbers["y"])
    if len(numbers["d"]) > 2 or len(numbers["m"]) > 2:
        raise WrongDateError(f"has no such date: {'/'.join(fields)}")
    try:
        return date(year, int(numbers["m"]), int(numbers["d"]))
    except ValueError:
        raise WrongDateError(f"has no such date: {'/'.join(fields)}") from None


def _year(text: str) -> int:
    if text[0] in _ERAS:
        return _ERAS[text[0]] + int(text[1:])
    if not text.isdecimal():
        raise WrongDateError(f"has a year of an unknown calendar: {text}")
    year = int(text)
    if len(text) <= 2:
        return 2000 + year
    if year in _OTHER_CALENDARS:
        raise WrongDateError(
            f"has the year {year} of another calendar; set the phone to the Gregorian calendar and export again"
        )
    return year - _BUDDHIST_LEAD if year >= _BUDDHIST_FROM else year


def _in_24_hours(hour: int, half: DayHalf) -> int:
    if hour > 12:  # the phone has 24 hours, its language the word
        return hour
    if half is DayHalf.NOON:
        return hour if hour >= 11 else hour + 12
    return hour % 12 + (12 if half is DayHalf.AFTERNOON else 0)


def _fewest(orders: tuple[str, ...], counts: Counter[str]) -> tuple[str, ...]:
    fewest = min(counts[order] for order in orders)
    return tuple(order for order in orders if counts[order] == fewest)


def _shape(text: str) -> str:
    """Return what a number shows of its pattern: a leading 0, one digit, a year, or nothing."""
    if len(text) > 2:
        return "year"
    if len(text) == 1:
        return "single"
    return "padded" if int(text.lstrip("RHS") or 0) < 10 else ""


def _fits(shape: str, part: str) -> bool:
    if part.startswith("y"):
        return shape == "year" if part == "y" else shape != "year"
    return {"year": False, "single": len(part) == 1, "padded": len(part) == 2}.get(shape, True)


def _fields_of(pattern: str) -> list[str]:
    return pattern.replace("/", " ").replace(".", " ").replace("-", " ").split()


def _order_of(parts: list[str]) -> str:
    return "".join(part[0].lower() for part in parts)
