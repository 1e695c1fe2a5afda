"""The variables that are set: does anything read them? One that is mistyped leaves the default in force."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from dotenv import dotenv_values

from vicw_shared.settings import EmbeddingSettings
from vicw_shared.settings.variables import PREFIX, VARIABLES, nearest, variables_of
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.settings import CHOICES, StandaloneSettings


def variables(settings: StandaloneSettings) -> Iterator[Finding]:
    """Look at the environment, and at the data directory's own file, of which only the model's settings are read."""
    choices = settings.storage.data_dir / CHOICES
    unread = [
        *_unread(os.environ, VARIABLES, "the environment"),
        *_unread(dotenv_values(choices), variables_of(EmbeddingSettings), str(choices)),
    ]
    yield from unread or [Finding("settings", Severity.FINE, "every VICW_… variable that is set is known")]


def _unread(names: Iterable[str], known: Collection[str], place: str) -> Iterator[Finding]:
    for name in sorted(names):
        upper = name.upper()  # as they are read: without regard to case
        if not upper.startswith(PREFIX) or upper in known:
            continue
        fix = "Set it in the environment" if upper in VARIABLES else f"Did you mean {nearest(upper, known)}?"
        yield Finding("settings", Severity.NOTE, f"{name} in {place} is read by nothing", fix)
