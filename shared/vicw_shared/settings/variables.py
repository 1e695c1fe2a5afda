"""The environment variables behind the settings: what they are called, and which one is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from vicw_shared.errors import SettingsError
from vicw_shared.settings.document import CONCERNS, default_of, variable

_CONCERNS = {concern.__name__: concern for concern in CONCERNS}


@contextmanager
def named_by_variable(place: str = "the environment") -> Iterator[None]:
    """Read settings inside; ``place`` is where their values are from.

    Raises SettingsError that names the variable, its value, what is wrong with it and what to do.
    """
    try:
        yield
    except ValidationError as error:
        raise SettingsError("; ".join(_fault(error.title, fault, place) for fault in error.errors())) from error


def _fault(concern_name: str, fault: Any, place: str) -> str:
    concern = _CONCERNS[concern_name]
    name = str(fault["loc"][0])
    # "Input should be a valid integer, unable to parse string as an integer": once is enough.
    wanted = fault["msg"].removeprefix("Input ").partition(", unable to")[0]
    default = default_of(name, concern.model_fields[name])
    otherwise = f" for the default, {default}" if default else ""
    return f"{variable(concern, name)} is {fault['input']!r} in {place}, but {wanted}. Mend it, or unset it{otherwise}"
