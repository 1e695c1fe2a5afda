"""How the commands of this installation reach a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command imports this module, and most of them ask a server
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from vicw_runtime.operations import Opening, Stores
    from vicw_runtime.operations.client import ServerAddress
    from vicw_runtime.operations.command import Place
    from vicw_runtime.operations.remote_memory import RemoteMemory


class InstalledAccess:
    """``Access`` to a server, to a data directory, and to the platform's engines."""

    def server(self, place: Place) -> ServerAddress | None:
        """Return the server that is named, or has the data directory open."""
        from vicw_runtime.operations.client import ServerAddress
        from vicw_standalone.settings import read_settings
        from vicw_stores.data_dir import DataDir

        if place.url is not None:
            return ServerAddress.at(place.url)
        if place.platform:
            return None
        serving = DataDir.read_server(read_settings(data_dir=place.data_dir).storage.data_dir)
        if serving is None:
            return None
        return ServerAddress(serving.url, serving.token) if serving.token is not None else ServerAddress.at(serving.url)

    def open(self, place: Place, opening: Opening) -> AbstractAsyncContextManager[Stores]:
        """Open the stores of a data directory that no process has open, or the platform's."""
        from vicw_standalone.settings import read_settings
        from vicw_standalone.stores.opening import open_stores

        return open_stores(read_settings(data_dir=place.data_dir), opening, platform=place.platform)

    def remote(self, url: str) -> AbstractContextManager[RemoteMemory]:
        """Yield the client of the server at an address. Whatever it refuses ends the command."""
        from vicw_standalone.terminal.server_client import server

        return server(url)
