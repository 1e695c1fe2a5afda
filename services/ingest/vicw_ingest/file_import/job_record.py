"""The record of an import: a receipt of its tenant, so that every process of the service can tell how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from operator import methodcaller

from vicw_shared.errors import MissingRecordError
from vicw_shared.model.receipts import IMPORT_KEY
from vicw_shared.ports import GraphStore, GraphTransaction, Receipt, StoreRecord
from vicw_shared.wire.file_import import ImportJob


@dataclass(frozen=True, slots=True)
class JobRecord:
    """Keeps the states of imports as long as receipts are kept."""

    graph: GraphStore
    record: StoreRecord

    async def get(self, tenant: str, job: str) -> ImportJob:
        """Return the last state of an import. Raises MissingRecordError for one that the tenant does not have."""
        receipt = await self.record.receipt(tenant, f"{IMPORT_KEY}{job}")
        if receipt is None:
            raise MissingRecordError(f"There is no import {job!r}")
        return ImportJob.model_validate(receipt.body)

    async def put(self, tenant: str, state: ImportJob) -> None:
        """Keep the first state of an import."""
        await self.graph.write(tenant, "", methodcaller("put_receipt", _receipt(state)))

    async def advance(self, tenant: str, state: ImportJob) -> ImportJob:
        """Keep the state of a running import, and return it: it is ``cancelling`` if another process wants that.

        So it is if it was erased meanwhile, and then nothing is kept.
        """

        async def work(transaction: GraphTransaction) -> ImportJob:
            before = await transaction.receipt(f"{IMPORT_KEY}{state.job}")
            is_cancelled = before is None or before.body["status"] == "cancelling"
            after = state.model_copy(update={"status": "cancelling"}) if is_cancelled else state
            if before is not None:
                await transaction.put_receipt(_receipt(after))
            return after

        return await self.graph.write(tenant, "", work)

    async def end(self, tenant: str, state: ImportJob) -> None:
        """Keep the last state of an import, unless it was erased meanwhile."""

        async def work(transaction: GraphTransaction) -> None:
            if await transaction.receipt(f"{IMPORT_KEY}{state.job}") is not None:
                await transaction.put_receipt(_receipt(state))

        await self.graph.write(tenant, "", work)

    async def cancel(self, tenant: str, job: str) -> ImportJob:
        """Ask whoever runs an import to end it, unless it has ended; return its state."""

        async def work(transaction: GraphTransaction) -> ImportJob | None:
            before = await transaction.receipt(f"{IMPORT_KEY}{job}")
            if before is None:
                return None
            state = ImportJob.model_validate(before.body)
            if state.status == "running":
                state = state.model_copy(update={"status": "cancelling"})
                await transaction.put_receipt(_receipt(state))
            return state

        state = await self.graph.write(tenant, "", work)
        if state is None:
            raise MissingRecordError(f"There is no import {job!r}")
        return state


def _receipt(state: ImportJob) -> Receipt:
    return Receipt(f"{IMPORT_KEY}{state.job}", "", state.updated_at, state.model_dump(mode="json"))
