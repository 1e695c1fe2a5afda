"""What agents write: the use cases of the write path, for one caller."""

from __future__ import annotations

from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.versions.retraction import retract
from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_shared.wire.retract import RetractRequest, RetractResponse


class IngestWriter:
    """Writes to a tenant's memory over open ports, with the errors of the use cases."""

    def __init__(self, ports: IngestPorts, tenant: str, key: str | None) -> None:
        """``key``: the id of the caller's key, for the record of changes."""
        self._ports = ports
        self._tenant = tenant
        self._key = key

    async def ingest(self, request: IngestRequest) -> IngestResponse:
        """Store items."""
        outcome, _ = await ingest(request, self._tenant, self._ports, key=self._key)
        return outcome

    async def retract(self, request: RetractRequest) -> RetractResponse:
        """Take items back."""
        outcome, _ = await retract(request, self._tenant, self._ports, key=self._key)
        return outcome
