"""What is left after items came, changed and went in any order: what rests on live items, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.generators.example_count import TIMES
from support.generators.requests import RETRACTIONS, UPDATES
from support.stores.graph_records import Graph, edge, node, put
from support.stores.pairs import Clockwork, embedded
from vicw_ingest.expiry.service import Expiry
from vicw_shared.errors import FixableError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid

_TEXTS = (
    "My sister Ana moved to Porto because Mara took the Sunken Amulet.",
    "Edran rode north after Mara left. Ana told Ben.",
    "I met Ben in Porto last Friday, so the build broke in src/app.py.",
    "def load(path):\n    '''Read the file.'''\n    return parse(path)\n\ndef parse(path):\n    return path\n",
    "Nothing happened.",
)


def _renamed(request: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    items = [item | {"text": text} for item, text in zip(request["items"], texts, strict=False)]
    return request | {"context": "home", "extract": "rules", "items": items}


_INGESTS = st.builds(_renamed, UPDATES, st.lists(st.sampled_from(_TEXTS), min_size=3, max_size=3))
_STEPS = st.lists(
    _INGESTS | _INGESTS | RETRACTIONS.map(lambda request: request | {"context": "home"}) | st.just({"expire": True}),
    max_size=8,
)


def _violations(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Iterator[str]:
    """Return what a walk over everything finds wrong of what is live and what is not."""
    live = {uid for uid, node in nodes.items() if node.retired_at is None}
    beside: dict[str, set[str]] = {uid: set() for uid in nodes}
    for told in edges:
        if told.type not in {"BELONGS_TO", "IS_PERSON"}:
            beside[told.source].add(told.target)
            beside[told.target].add(told.source)
        teller = told.properties.get("item")
        if {told.source, told.target} <= live and teller is not None and teller not in live:
            yield f"{told.type} joins live things, but who told of it is retired"
    proofs = {(e.source, e.target) for e in edges if e.type == "EVIDENCED_BY"}
    for uid, kept in nodes.items():
        if kept.content_hash is None and kept.label in {Label.ENTITY, Label.CONCEPT}:
            rests = bool(beside[uid] & live)
        elif kept.content_hash is None and kept.label in {Label.EVENT, Label.CHUNK}:
            at = 1 if kept.label is Label.CHUNK else 0
            rests = any(proof[at] == uid and proof[1 - at] in live for proof in proofs)
        else:
            continue
        if rests != (uid in live):
            yield f"{kept.subtype} {kept.name} is {'live' if uid in live else 'retired'}, though it ought not to be"


@pytest.mark.timeout(1800)
def test_random_updates_leave_only_nodes_that_live_items_support(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clockwork()
    clock.install(monkeypatch)
    store.mkdir()

    async def tell(steps: Sequence[dict[str, Any]]) -> None:
        async with embedded(store) as side:
            for step in steps:
                clock.next_operation()
                clock.next_side()
                if "expire" in step:
                    clock.now += timedelta(minutes=20)
                    await Expiry(side.graph, EdgeRegistry.with_core_types(), side.indexer).drain()
                    assert await side.graph.expired(clock.now, limit=1) == []
                    continue
                with suppress(FixableError):
                    await (side.ingest(step, "t", None) if "items" in step else side.retract(step, "t"))
            assert list(_violations(await side.nodes(), list((await side.edges()).values()))) == []
            await side.indexer.drain()
            report = await side.check()
            assert (report.violations, report.waiting) == ([], 0)

    with asyncio.Runner() as runner:

        @settings(
            max_examples=25 * TIMES,
            phases=[Phase.generate],  # eight steps at most: to make them fewer takes longer than to read them
            database=None,
            derandomize=TIMES == 1,
            suppress_health_check=list(HealthCheck),
        )
        @given(_STEPS)
        def told(steps: list[dict[str, Any]]) -> None:
            runner.run(tell(steps))

        told()


async def test_isolated_finds_nodes_without_live_neighbours(graph: Graph) -> None:
    gone = node("gone", content_hash="h", retired_at=node("x").created_at)
    alone, beside, tagged, merged = node("alone"), node("beside"), node("tag", Label.CONCEPT), node("merged")
    root, item = node("root", Label.CONTEXT), node("item", content_hash="h")
    edges = [
        *(edge("BELONGS_TO", name, "root") for name in ("alone", "beside", "tag", "merged")),
        *(edge("MENTIONS", "gone", name) for name in ("alone", "beside", "tag", "merged")),
        edge("MENTIONS", "item", "beside"),
        edge("MERGED_INTO", "merged", "beside"),
    ]
    await put(graph, [gone, alone, beside, tagged, merged, root, item], edges)

    async def work(transaction: GraphTransaction) -> tuple[set[str], set[str], set[str]]:
        names = [make_uid(name) for name in ("alone", "beside", "tag", "merged", "nobody")]
        before = await transaction.isolated(names)
        await transaction.put_edges([edge("TAGGED", "item", "tag")])
        return before, await transaction.isolated(names), await transaction.isolated([])

    before, after, none = await graph.write("t", "c", work)
    assert before == {make_uid("alone"), make_uid("tag")}
    assert after == {make_uid("alone")}
    assert none == set()
    assert await graph.write("u", "c", lambda transaction: transaction.isolated([make_uid("alone")])) == set()
