"""Environment variables of the settings: their names, and errors that name the invalid one."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from vicw_shared.errors import SettingsError
from vicw_shared.settings.document import CONCERNS, default_of, variable
from vicw_shared.settings.secrets import secret_variables

PREFIX = "VICW_"
_CONCERNS = {concern.__name__: concern for concern in CONCERNS}


def variables_of(concern: type[BaseSettings]) -> frozenset[str]:
    """Return the variables of a concern, with those that name files of its secrets."""
    return frozenset(variable(concern, name) for name in concern.model_fields) | {
        file for _, file in secret_variables(concern)
    }


_OF_CLIENTS = {"VICW_URL", "VICW_RETRIEVE_URL", "VICW_CONTEXT", "VICW_API_KEY"}
VARIABLES = frozenset(_OF_CLIENTS).union(*map(variables_of, CONCERNS))
"""All variables that the services and the client read from the environment."""


def nearest(name: str, variables: Collection[str] = VARIABLES) -> str:
    """Return the known variable whose spelling is most like ``name``, compared without the common prefix."""
    suffixes = {variable_name.removeprefix(PREFIX): variable_name for variable_name in sorted(variables)}
    return suffixes[difflib.get_close_matches(name.removeprefix(PREFIX), suffixes, n=1, cutoff=0.0)[0]]


@contextmanager
def named_by_variable(place: str = "the environment") -> Iterator[None]:
    """Translate validation errors of settings that are read inside; ``place`` is the source of their values.

    Raises SettingsError that names the variable, its value, the problem and the fix.
    """
    try:
        yield
    except ValidationError as error:
        raise SettingsError("; ".join(_fault(error.title, fault, place) for fault in error.errors())) from error


def _fault(concern_name: str, fault: Any, place: str) -> str:
    concern = _CONCERNS[concern_name]
    name = str(fault["loc"][0])
    # Shortened: "Input should be a valid integer, unable to parse string as an integer" says it twice.
    problem = fault["msg"].removeprefix("Input ").partition(", unable to")[0]
    default = default_of(name, concern.model_fields[name])
    otherwise = f" for the default, {default}" if default else ""
    return (
        f"{variable(concern, name)} is {fault['input']!r} in {place}, but {problem}. Correct it, or unset it{otherwise}"
    )
