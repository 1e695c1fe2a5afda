"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

from vicw_shared.platform.wiring import PlatformWiring
from vicw_sleep.settings import Settings


class Wiring(PlatformWiring):
    """The open engines."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.platform)
