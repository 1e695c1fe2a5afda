"""Fills a data directory with something of everything that a store can keep, through the use cases of this build."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doubles import HashEmbedder
from earlier import story
from earlier.frozen_clock import Clock
from earlier.story import CREW, DESK, GUEST, ORCHARD, TIDES
from memory import settings_for
from vicw_ingest.capacity.capacity import FORGET, Capacity, keep
from vicw_ingest.capacity.policy import Policy
from vicw_ingest.erasing.choosing import choose_items
from vicw_ingest.erasing.eraser import Eraser
from vicw_ingest.erasing.noting import note_copies
from vicw_ingest.identity.identifying import identify
from vicw_ingest.identity.merges import merge, split
from vicw_ingest.identity.renaming import rename
from vicw_ingest.later.extractor import Extractor
from vicw_ingest.later.requests import ModelReading
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.retraction import retract
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.using import UseBook
from vicw_shared.errors import FieldProblem, InvalidInputError, UnavailableError
from vicw_shared.folding.fold import level
from vicw_shared.identity.joining import Decision
from vicw_shared.model import Label, Node
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import ChangePhase, Completion, Finish, Lane, ModelChange, Outcome, Turn
from vicw_shared.rounds import noted
from vicw_shared.settings import ConsolidationSettings, DreamSettings, LlmSettings, ResolveSettings
from vicw_shared.ties import DREAM, RESOLVE
from vicw_shared.wire.ingest import IngestRequest
from vicw_shared.wire.retract import RetractRequest
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_sleep.consolidation import turn as consolidating
from vicw_sleep.dream import turn as dreaming
from vicw_sleep.resolve import turn as resolving
from vicw_standalone.wiring import Standalone

TENANT = "default"
_GRACE = timedelta(days=7)


class Embedder(HashEmbedder):
    """The double, which fails at one text."""

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any(story.UNEMBEDDABLE in text for text in texts):
            raise InvalidInputError(FieldProblem("input", "cannot be embedded", "Send another text"))
        return await super().embed(texts, lane)


class Scribe:
    """A language model that reads one text well, fails at another, and is away for a third."""

    async def complete(self, turns: Sequence[Turn], schema: Mapping[str, object], *, max_tokens: int) -> Completion:
        asked = turns[-1].text if len(turns) < 3 else turns[1].text
        if story.LATER in asked:
            raise UnavailableError("llm", "away")
        said = "no JSON" if story.GIBBERISH in asked else json.dumps(story.MODEL_SAYS)
        return Completion(said, Finish.STOP, "scribe-1")

    async def close(self) -> None:
        pass


@asynccontextmanager
async def opened(path: Path, embedder: HashEmbedder) -> AsyncIterator[Standalone]:
    standalone = Standalone(settings_for(path), embedder)
    await standalone.open()
    try:
        yield standalone
    finally:
        await standalone.close()


async def fill(path: Path, clock: Clock) -> None:
    """Fill a new data directory. It is closed at the end, with what it has still to do noted in it."""
    async with opened(path, Embedder()) as standalone:
        work = _Work(standalone, clock)
        await work.tell()
        await work.read_by_a_model()
        await work.change()
        await work.identities()
        await work.ask()
        await work.sleep()
        await work.keys()
        await work.erase()
        await work.leave_something_to_do()


class _Work:
    """What is done to the store, in the order of the methods."""

    def __init__(self, standalone: Standalone, clock: Clock) -> None:
        self.standalone = standalone
        self.graph = standalone.graph
        self.clock = clock

    def _ports(self, **llm: Any) -> IngestPorts:
        ports, graph = self.standalone.ingest_ports(), self.graph
        if not llm:
            return ports
        settings = LlmSettings(**llm)
        extractor = Extractor.of(graph, Scribe(), self.standalone.registry, settings, ports.limits, ports.settings)
        return replace(ports, model=ModelReading(extractor, extractor))

    async def _ingest(
        self, context: str, *items: Mapping[str, Any], tenant: str = TENANT, key: str | None = None, **fields: Any
    ) -> None:
        self.clock.move(minutes=1)
        body = {"context": context, "items": list(items), "extract": "rules", "wait": False} | fields
        await ingest(IngestRequest.model_validate(body), tenant, self._ports(), idempotency_key=key)
        await self.standalone.indexer.drain()

    async def _retract(self, context: str, *ids: str, **fields: Any) -> None:
        self.clock.move(minutes=1)
        body = {"context": context, "ids": ids, "wait": False} | fields
        await retract(RetractRequest.model_validate(body), TENANT, self._ports())

    async def tell(self) -> None:
        await self._ingest(CREW, *story.CHAT, domain="personal", flow_id="crew chat", key="chat, first part")
        await self._ingest(CREW, *story.NEWS, domain="personal", flow_id="crew news")
        await self._ingest(CREW, *story.ROUNDS, domain="personal", flow_id="crew rounds")
        pages = [
            {"id": name, "text": text, "page": {"folder": "tidewatch", "path": name}}
            for name, text in story.PAGES.items()
        ]
        await self._ingest(TIDES, *pages, domain="coding")
        await self._ingest(TIDES, *story.CODE)
        await self._ingest(ORCHARD, *story.SCENES, domain="creative", flow_id="chapter 1", extract="caller")
        await self._ingest(DESK, *story.NOTES, domain="general", extract="none")
        await self._ingest(DESK, *story.PEOPLE, extract="caller")
        await self._ingest(CREW, {"id": "pasted", "text": story.REPEATED, "speaker": "assistant"}, flow_id="crew news")
        await self._ingest(CREW, {"id": "quoting", "text": story.QUOTING, "speaker": "Nora"}, flow_id="crew news")
        await self._ingest("guest", *story.GUESTS, tenant=GUEST)

    async def read_by_a_model(self) -> None:
        self.clock.move(minutes=1)
        for item, tries in ((story.READ_BY_MODEL, 3), *((one, 1 + n) for n, one in enumerate(story.LEFT_UNREAD))):
            ports = self._ports(max_tries=tries)
            body = {"context": ORCHARD, "items": [item], "extract": "llm", "wait": False, "flow_id": "chapter 1"}
            await ingest(IngestRequest.model_validate(body), TENANT, ports)
            assert ports.model is not None
            with suppress(UnavailableError):
                await ports.model.extractor.drain()
        await self.standalone.indexer.drain()

    async def change(self) -> None:
        """Versions, retractions, and what has expired."""
        self.clock.move(days=7)
        changed = {"id": "v1", "text": "The harbour desk opens at half past nine.", "timestamp": "2025-04-01T08:00:00Z"}
        await self._ingest(DESK, changed, flow_id="desk", extract="none")
        await self._retract(DESK, "r1")
        await self._retract(DESK, "r2", ended_at="2025-05-01T00:00:00Z")
        await self._ingest(DESK, next(one for one in story.NOTES if one.get("id") == "v2"), flow_id="desk")
        await self._retract(DESK, "d4")
        await self._ingest(DESK, next(one for one in story.NOTES if one.get("id") == "d4"), extract="none")
        self.clock.move(days=60)
        assert await self.standalone.expiry.drain() == 1
        await self.standalone.indexer.drain()

    async def _named(self, name: str, subtype: str = "person", context: str = DESK) -> str:
        found = await self.graph.named(TENANT, [name.casefold()], contexts=[context], limit=9)
        (uid,) = (node.uid for node in found[name.casefold()] if node.subtype == subtype and node.content_hash is None)
        return uid

    async def identities(self) -> None:
        self.clock.move(minutes=1)
        decision = Decision(TENANT, self.clock(), self.standalone.registry)
        bates, harry = await self._named(story.BATES), await self._named("Harry Bates")
        assert await merge(self.graph, decision, harry, bates)
        ruiz, other = await self._named("Captain Ruiz"), await self._named("Capt. R.")
        assert await merge(self.graph, decision, other, ruiz)
        assert await merge(self.graph, decision, await self._named("Captain Ruiz", context=CREW), ruiz)
        assert await split(self.graph, decision, other)
        assert await rename(self.graph, TENANT, other, "Captain Rask", most_chars=100)
        user = await self._named("pete@quay", "user", CREW)
        assert await identify(self.graph, decision, user, bates)
        nora = await self._named("nora@quay", "user", CREW)
        assert await identify(self.graph, decision, nora, bates, holds=False)

    async def ask(self) -> None:
        """Ask, so that something has been shown."""
        self.clock.move(minutes=1)
        uses = UseBook()
        ports = replace(self.standalone.retrieval_ports(), uses=uses)
        for query in ("Who broke the last pane?", "the old beacon", "the inn"):
            await retrieve(RetrieveRequest(query=query), GUEST if "inn" in query else TENANT, ports)
        await uses.note(self.graph)

    async def sleep(self) -> None:
        """Consolidate twice, dream, resolve and forget for want of room; take a step of each back."""
        graph, asleep = self.graph, self.standalone.asleep
        self.clock.move(days=2)
        settings = ConsolidationSettings(interactions=3, rest_hours=1)
        async with noted(graph, "consolidation", first=True):
            first = await consolidating.catch_up(asleep.consolidation(), settings)
            while first.next is not None:
                first = await consolidating.catch_up(asleep.consolidation(), settings, first.next)
        self.clock.move(days=2)
        done = await consolidating.turn(asleep.consolidation(), settings)
        assert done is not None and done.macros and done.refused, done
        assert max([level(node) for node in await graph.page(Label.EVENT, after=None, limit=5000)]) == 2
        dreams = asleep.dream()
        async with noted(graph, "dream", first=True):
            dreamt = await dreaming.turn(dreams, DreamSettings(hours=0, certainty=0.5), None)
        assert dreamt is not None and dreamt.tags and dreamt.links, dreamt
        async with noted(graph, "resolve", first=True):
            merged = await resolving.turn(asleep.resolve(), ResolveSettings(), None)
        assert merged is not None and merged.merged >= 3, merged
        async with noted(graph, "forgetting", first=True) as round_:
            round_.more = True
            held = len([node async for node in self._items()])
            forgetting = Capacity(graph, Eraser(graph, self.standalone.indexes, self.standalone.registry), dreams.queue)
            forgot = await forgetting.run(Policy(items=held - 3, rest=timedelta(0)), now=self.clock())
            assert forgot.marked >= 2, forgot
        await self.standalone.indexer.drain()
        self.clock.move(minutes=1)
        for task in (DREAM, RESOLVE, FORGET, "consolidate"):
            steps = [step for step in await graph.steps(None, task=task, limit=99) if step.outcome is Outcome.DONE]
            step = min(steps, key=lambda one: (one.context, json.dumps(dict(one.details), sort_keys=True)))
            if task == DREAM:
                assert await dreams.undo(step.id, now=self.clock(), grace=_GRACE)
            elif task == RESOLVE:
                assert await asleep.resolve().undo(step.id, now=self.clock(), grace=_GRACE)
            elif task == FORGET:
                await keep(graph, step.id, now=self.clock())
            else:
                await asleep.consolidation().undo(step.id, now=self.clock(), grace=_GRACE)
        await self.standalone.indexer.drain()

    async def _items(self) -> AsyncIterator[Node]:
        for label in (Label.ENTITY, Label.EVENT):
            for node in await self.graph.page(label, after=None, limit=5000):
                if node.tenant == TENANT and node.content_hash is not None and node.retired_at is None:
                    yield node

    async def keys(self) -> None:
        ring = self.standalone.keys
        first, _ = mint(TENANT, (Right.INGEST, Right.RETRIEVE), self.clock(), "of the crew")
        second, _ = mint(GUEST, (Right.ADMIN,), self.clock(), "lost")
        await ring.add(first)
        await ring.add(second)
        assert await ring.revoke(second.id, self.clock())

    async def erase(self) -> None:
        """Erase an item, without an end; begin to erase another."""
        self.clock.move(minutes=1)
        eraser = Eraser(self.graph, self.standalone.indexes, self.standalone.registry)
        erasure = await eraser.begin(await choose_items(self.graph, TENANT, [story.ERASED], DESK))
        await note_copies(self.graph, erasure, ["/var/backups/tidewatch"])
        await eraser.run(erasure)
        await self.standalone.indexer.drain()
        self.clock.move(minutes=1)
        await eraser.begin(await choose_items(self.graph, TENANT, ["e4"], DESK))

    async def leave_something_to_do(self) -> None:
        """Passages that wait for their vectors, or are given up; a change of the model that has begun."""
        self.standalone.indexer.max_tries = 1
        await self._ingest(DESK, {"id": "x1", "text": f"This {story.UNEMBEDDABLE} text is given up."}, extract="none")
        self.standalone.indexer.max_tries = 30
        await self._ingest(
            DESK, {"id": "x2", "text": f"This {story.UNEMBEDDABLE} text rests."}, extract="none", key="k"
        )
        await self._retract(DESK, "r4")
        other = await HashEmbedder("another", "1" * 64).identity()
        used = await self.graph.model()
        assert used is not None
        await self.graph.set_model(used, ModelChange(other, ChangePhase.BUILDING, "another.gguf"))
        passages = await self.graph.page(Label.CHUNK, after=None, limit=1)
        await self.graph.requeue([passage.uid for passage in passages])
