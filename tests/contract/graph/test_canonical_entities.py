"""MERGED_INTO is followed the same way on every GraphStore, inside a transaction and outside."""

from __future__ import annotations

import pytest

from support.stores.graph_records import Graph, edge, node, put
from vicw_core.graph import canonical as canonical_module
from vicw_core.graph.canonical import canonical, canonical_in, canonical_nodes
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid


async def canonical_names(graph: Graph, *names: str) -> dict[str, str]:
    """Return who stands for whom, by name."""
    called = {make_uid(name): name for name in (*"abcdefgh", *(f"n{n}" for n in range(40)))}
    uids = [make_uid(name) for name in names]
    outside = await canonical(graph, "t", uids)

    async def work(transaction: GraphTransaction) -> dict[str, str]:
        nodes = await transaction.nodes(uids)
        stands = await canonical_in(transaction, uids)
        standing = await canonical_nodes(transaction, nodes.values())
        assert {uid: found.uid for uid, found in standing.items()} == {uid: stands[uid] for uid in nodes}
        return stands

    assert await graph.write("t", "c", work) == outside
    return {called[uid]: called[other] for uid, other in outside.items()}


async def test_merges_are_followed_to_the_canonical_entity(graph: Graph) -> None:
    await put(
        graph,
        [node(name) for name in "abcdef"],
        [edge("MERGED_INTO", *pair) for pair in ("ab", "bc", "dc")] + [edge("RELATED_TO", "e", "f")],
    )
    assert await canonical_names(graph, *"abcde", "h") == {"a": "c", "b": "c", "c": "c", "d": "c", "e": "e", "h": "h"}
    assert await canonical_names(graph) == {}
    assert await canonical(graph, "u", [make_uid("a")]) == {make_uid("a"): make_uid("a")}, "another tenant's"


async def test_a_long_merge_chain_is_followed_up_to_max_hops(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{n}" for n in range(40)]
    await put(graph, [node(name) for name in names], [edge("MERGED_INTO", f"n{n}", f"n{n + 1}") for n in range(39)])
    assert set((await canonical_names(graph, *names)).values()) == {"n39"}
    monkeypatch.setattr(canonical_module, "MAX_HOPS", 5)
    assert await canonical_names(graph, "n0", "n37") == {"n0": "n5", "n37": "n39"}


async def test_all_nodes_of_a_merge_circle_have_one_canonical_entity(graph: Graph) -> None:
    await put(
        graph,
        [node(name) for name in "abcde"],
        [edge("MERGED_INTO", *pair) for pair in ("ab", "bc", "ca", "da", "ed")],
    )
    least = min("abc", key=make_uid)
    for name in "abcde":
        assert await canonical_names(graph, name) == {name: least}
    assert set((await canonical_names(graph, *"edcba")).values()) == {least}
