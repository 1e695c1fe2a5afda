"""Attribute claims of stored statements, committed as a language model's extraction is: rules make none."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_ingest.llm_queue.commit import ExtractionCommit
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.model.extraction import (
    SPEAKER,
    STATEMENT,
    AttributeClaim,
    ExtractedEntity,
    ExtractedEvent,
    TextExtraction,
)
from vicw_shared.ports import GraphTransaction, Store
from vicw_shared.settings import IngestSettings
from vicw_shared.text import Span


@dataclass(frozen=True)
class Claim:
    """A statement and the value that it claims for the ``attribute`` of its speaker, or of the named ``owner``."""

    statement: str
    value: str
    attribute: str = "home"
    owner: str | None = None
    changed: bool = False


async def add_claim(graph: Store, tenant: str, context: str, item: str, claim: Claim) -> None:
    """Add a claim of a statement of the item (uid), and compare it with the others of its slot."""
    extraction = TextExtraction(by="llm:test")
    span = Span(0, len(claim.statement))
    extraction.events.append(ExtractedEvent("s", claim.statement, STATEMENT, span))
    if claim.owner is not None:
        extraction.entities.append(ExtractedEntity("o", claim.owner, Label.ENTITY, None, "name", span))
    owner = SPEAKER if claim.owner is None else "o"
    extraction.claims.append(AttributeClaim("s", owner, "", claim.attribute, claim.value, now=claim.changed))
    commit = ExtractionCommit(
        item, extraction, EdgeRegistry.with_core_types(), now(), hub_edges=IngestSettings().hub_edges
    )

    async def work(transaction: GraphTransaction) -> None:
        await transaction.queue_extractions([item])
        assert await commit(transaction)

    await graph.write(tenant, context, work)
