"""The invariants of a store, judged with all of it at hand: what a check must come to, page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import pairwise

from support.stores.pairs import Side
from vicw_core.index.diff import compare
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, chain_key
from vicw_shared.ports import Counters, GraphTransaction, Passages

_EVERYTHING = 10**6


async def violations_of(side: Side) -> list[str]:
    """Return what is broken of what ``breaking`` can break, in a store in which nothing waits to be indexed."""
    nodes, edges = await side.nodes(), await side.edges()
    points = await side.points()
    passages = await side.graph.scan(Passages(), limit=_EVERYTHING)
    differences = await compare(passages, side.vectors)
    found = [f"Chunk {point.point_id} is marked indexed but has no point" for point in differences.absent]
    found += [f"Point {uid} differs from the graph: {', '.join(n)}" for uid, n in differences.fields.items()]
    found += [f"Point {uid} has no Chunk" for uid in points - {point.point_id for point in passages}]
    found += _homeless(nodes, edges.values())
    found += _wrongly_marked(nodes, points)
    found += _gaps(nodes.values())
    found += await _uncounted(side, nodes.values())
    found += _broken_chains(nodes.values(), edges.values())
    return sorted(found)


def _homeless(nodes: Mapping[str, Node], edges: Collection[Edge]) -> Iterator[str]:
    homes = dict.fromkeys((uid for uid, node in nodes.items() if node.label is not Label.CONTEXT), 0)
    for edge in edges:
        if edge.type == "BELONGS_TO":
            homes[edge.source] += 1
    return (f"Node {uid} belongs to {count} contexts instead of one" for uid, count in homes.items() if count != 1)


def _wrongly_marked(nodes: Mapping[str, Node], points: set[str]) -> Iterator[str]:
    for uid, node in nodes.items():
        if node.label not in {Label.CHUNK, Label.CONTEXT} and node.indexed != (node.qdrant_id in points):
            said, there_is = ("", "no") if node.indexed else ("not ", "a")
            yield f"{node.label} {uid} is {said}marked indexed but has {there_is} point"


def _gaps(nodes: Collection[Node]) -> Iterator[str]:
    steps: dict[tuple[str, str, str | None], set[int]] = defaultdict(set)
    for node in nodes:
        if node.arrival is not None and node.flow_step is not None:
            steps[node.tenant, node.context, node.flow_id].add(node.flow_step)
    for (_, context, flow), given in steps.items():
        for step in given:
            if step != 1 and step - 1 not in given:
                there = f"there is {step}, but not {step - 1}"
                yield f"Flow {flow!r} of {context!r}: steps are not gap-free from 1: {there}"


async def _uncounted(side: Side, nodes: Collection[Node]) -> list[str]:
    found: list[str] = []
    for node in (node for node in nodes if node.arrival is not None):
        flows = [node.flow_id] if node.flow_id is not None else []
        counters = await side.graph.write(node.tenant, node.context, partial(_counters, flows=flows))
        given = (counters.arrival, *counters.flow_steps.values())
        numbers = (node.arrival or 0, *([node.flow_step or 0] if flows else []))
        if any(number > counter for number, counter in zip(numbers, given, strict=True)):
            told = f"the counter of {node.context!r} would give again"
            found.append(f"Event {node.uid} has an arrival or a step that {told}")
    return found


async def _counters(transaction: GraphTransaction, flows: list[str]) -> Counters:
    return await transaction.counters(flows)


def _broken_chains(nodes: Collection[Node], edges: Collection[Edge]) -> Iterator[str]:
    for chain in (NEXT, HAPPENED_AFTER):
        members = defaultdict(list)
        for node in nodes:
            if (key := chain_key(chain, node)) is not None:
                members[node.tenant, node.context, node.flow_id if chain == NEXT else None].append((key, node.uid))
        expected = {pair for chained in members.values() for pair in pairwise(uid for _, uid in sorted(chained))}
        joined = {(e.source, e.target) if chain == NEXT else (e.target, e.source) for e in edges if e.type == chain}
        yield from (f"{chain} chain is broken: nothing joins {a} to {b}" for a, b in expected - joined)
        yield from (f"{chain} chain has a stray edge between {a} and {b}" for a, b in joined - expected)
