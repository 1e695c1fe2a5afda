"""``GET /audit``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vicw_shared.wire.base import Message, StrictInt, Timestamp, example
from vicw_shared.wire.examples import story

_MAX_PAGE = 1000


class AuditQuery(Message):
    """A page of the record of changes."""

    after: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="`next` of the page before", examples=[story.CURSOR]
    )
    limit: Annotated[int, Field(ge=1, le=_MAX_PAGE)] = Field(100, description="Number of records")


class AuditRecord(Message):
    """A change: its kind, the number of items, entities, webhooks or keys, when, and by which key. Never which."""

    id: str
    at: Timestamp
    kind: str = Field(
        description="`update`, `patch`, `retract`, `erase`, `merge`, `split`, `identify`, `rename`, `supersede`, "
        "`undo`, `run`, `wipe`, `reindex`, `drop-indexes`, `replay`, `make-webhook`, `remove-webhook`, "
        "`rotate-webhook`, `make-key` or `revoke-key`"
    )
    key: str | None = Field(description="Id of the key; null: none was needed, or it was a command of the operator")
    count: StrictInt = Field(description="Number of items or entities; of an erasure 0 if only contexts were named")


class AuditPage(Message):
    """Changes of the key's tenant, the latest first."""

    model_config = example(
        {
            "records": [
                {
                    "id": "c2ba9061-b94e-441b-bc99-e525beabcffd",
                    "at": story.LATER_AT,
                    "kind": "patch",
                    "key": story.KEY,
                    "count": 1,
                }
            ],
            "next": None,
        }
    )

    records: tuple[AuditRecord, ...]
    next: str | None = Field(description="Where the next page begins; null: this is the last")
