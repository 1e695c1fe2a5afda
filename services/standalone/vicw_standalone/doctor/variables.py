"""Check of the VICW_… variables that are set: a mistyped or former name leaves the default in effect."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from dotenv import dotenv_values

from vicw_shared.settings import EmbeddingSettings
from vicw_shared.settings.former_names import REMOVED, RENAMED
from vicw_shared.settings.variables import PREFIX, VARIABLES, nearest, variables_of
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.settings import CHOICES, StandaloneSettings


def variables(settings: StandaloneSettings) -> Iterator[Finding]:
    """Check the environment, and the data directory's own file, from which only the model's settings are read."""
    choices = settings.storage.data_dir / CHOICES
    unknown = [
        *_unknown(os.environ, VARIABLES, "the environment"),
        *_unknown(dotenv_values(choices), variables_of(EmbeddingSettings), str(choices)),
    ]
    yield from unknown or [Finding("settings", Severity.FINE, "every VICW_… variable that is set is known")]


def _unknown(names: Iterable[str], known: Collection[str], place: str) -> Iterator[Finding]:
    for name in sorted(names):
        upper = name.upper()  # settings are read without regard to case
        if not upper.startswith(PREFIX) or upper in known:
            continue
        yield Finding("settings", Severity.NOTE, f"{name} in {place} has no effect", _fix(upper, known))


def _fix(name: str, known: Collection[str]) -> str:
    if name in VARIABLES:
        return "Set it in the environment"
    if name in RENAMED:
        return f"It is now called {RENAMED[name]}"
    if name in REMOVED:
        return "This setting no longer exists: remove it"
    return f"Did you mean {nearest(name, known)}?"
