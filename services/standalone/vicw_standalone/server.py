"""Entry point of the one-process server."""

from __future__ import annotations

from vicw_shared.http.serve import serve as serve_app
from vicw_standalone.app import create_standalone_app
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone


async def serve(settings: StandaloneSettings) -> None:
    """Serve until SIGTERM or SIGINT. Raises FatalError before it answers if anything cannot be opened."""
    standalone = Standalone(settings)
    announcement = f"VICW answers on {{url}} (API: /docs), data in {settings.storage.data_dir}"
    await serve_app(
        create_standalone_app(standalone),
        standalone,
        settings.server,
        announcement,
        lambda url: standalone.data_dir.record_address(url),  # noqa: PLW0108 - data_dir is set by open()
    )
