"""Rules of all messages: no unknown fields, no NaN, only storable Unicode, NFC prose."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from vicw_shared.text import flaw, normalise, visible

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Message(BaseModel):
    """Base of all wire models."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def example(*values: JsonDict) -> ConfigDict:
    """Return the configuration of a message with examples of it, which its schema shows."""
    return ConfigDict(json_schema_extra={"examples": list(values)})


def _storable(text: str) -> str:
    problem = flaw(text)
    if problem:
        raise PydanticCustomError("unstorable", "{problem}", {"problem": problem})
    return text


def _visible(text: str) -> str:
    if not visible(text):
        raise PydanticCustomError("blank", "is empty or holds only white space and control characters")
    return text


def _datetime_text(value: Any) -> Any:
    # Pydantic would read a text of digits as seconds since 1970.
    if not (isinstance(value, datetime) or (isinstance(value, str) and _DATE.match(value))):
        raise PydanticCustomError("timestamp_type", "must be text such as 2026-01-19T10:00:00Z")
    return value


def _zoned(value: datetime) -> datetime:
    _utc(value)
    return value


def _utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise PydanticCustomError("timestamp_zone", "has no time zone; end it with Z or an offset such as +02:00")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("timestamp_range", "is outside the years 0001 to 9999 in UTC") from None


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # also for a folder of the database, and for a path
        raise PydanticCustomError("time_zone", "is no time zone of the IANA database") from None
    return name


RawText = Annotated[str, AfterValidator(_storable)]
"""Text that is returned unchanged: ids, tags."""

Id = Annotated[RawText, Field(min_length=1), AfterValidator(_visible)]
"""A caller's identifier, stored unchanged."""

Prose = Annotated[str, AfterValidator(_storable), AfterValidator(normalise), AfterValidator(_visible)]
"""Text in NFC with at least one visible character."""

Timestamp = Annotated[datetime, BeforeValidator(_datetime_text), AfterValidator(_utc)]
"""RFC 3339 text with a zone; converted to UTC."""

ZonedTimestamp = Annotated[datetime, BeforeValidator(_datetime_text), AfterValidator(_zoned)]
"""RFC 3339 text with a zone, which is kept, since it defines day boundaries."""

TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""Name of a zone of the IANA database, such as Europe/Berlin."""

StrictInt = Annotated[int, Field(strict=True)]
StrictBool = Annotated[bool, Field(strict=True)]
Unit = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
"""A number in [0, 1]."""
