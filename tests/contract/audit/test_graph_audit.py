"""What every GraphAudit must tell a check."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_core.graph.canonical import find_cycles
from vicw_shared.model import Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.ports import MAX_UNEXPECTED, ChainLink
from vicw_shared.uids import make_uid


def turn(name: str, number: int, **fields: object) -> Node:
    """An Event of the flow ``f``, the ``number``-th of its context."""
    placed = {"flow_id": "f", "flow_step": number, "arrival": number, "timestamp": AT + timedelta(seconds=number)}
    return node(name, Label.EVENT, **(placed | fields))


def chain_ends(chain: str, *names: str) -> tuple[str, str]:
    """The source and the target of an edge of a chain between an earlier and a later Event."""
    earlier, later = names
    return (earlier, later) if chain == NEXT else (later, earlier)


CHAINS = pytest.mark.parametrize("chain", [NEXT, HAPPENED_AFTER])
LAST = ChainLink(None, joined=False)


@CHAINS
async def test_chain_links_report_followers_and_unexpected_edges(graph: Graph, chain: str) -> None:
    a, b, c, d = events = [turn(name, number) for number, name in enumerate("abcd", 1)]
    edges = [edge(chain, *chain_ends(chain, *ends)) for ends in ("ab", "cd", "ca", "aa")]
    await put(graph, events, edges)
    assert await graph.audit.chain_links(chain, events) == {
        a.uid: ChainLink(b.uid, joined=True, unexpected=(a.uid,)),
        b.uid: ChainLink(c.uid, joined=False),
        c.uid: ChainLink(d.uid, joined=True, unexpected=(a.uid,)),
        d.uid: LAST,
    }
    assert await graph.audit.chain_links(chain, []) == {}
    assert await graph.audit.chain_links(chain, [turn("never stored", 9)]) == {}


@CHAINS
async def test_chain_links_skip_events_outside_the_chain(graph: Graph, chain: str) -> None:
    first, last = turn("first", 1), turn("last", 9)
    others = [
        turn("retired", 2, retired_at=AT),
        turn("elsewhere", 3, context="another"),
        turn("told", 4, arrival=None, flow_step=None),
        turn("without a time", 5, timestamp=None),
    ]
    if chain == NEXT:
        others += [turn("beside", 6, flow_id="g"), turn("alone", 7, flow_id=None, flow_step=None)]
    foreign = turn("foreign", 8, tenant="u")
    await put(graph, [first, last, *others], [edge(chain, *chain_ends(chain, "retired", "last"))])
    await put(graph, [foreign], tenant="u")
    found = await graph.audit.chain_links(chain, [first, last, *others, foreign])
    assert found.pop(first.uid) == ChainLink(last.uid, joined=False)
    assert found.pop(others[0].uid) == ChainLink(None, joined=False, unexpected=(last.uid,))
    assert found == dict.fromkeys(found, LAST)
    assert len(found) == len(others) + 1


async def test_events_with_own_steps_come_first_in_the_flow_chain(graph: Graph) -> None:
    late, early, unnumbered = turn("late", 3, own_step=1), turn("early", 2, own_step=2), turn("unnumbered", 1)
    events = [late, early, unnumbered]
    await put(graph, events)
    assert [link.follower for link in (await graph.audit.chain_links(NEXT, events)).values()] == [
        early.uid,
        unnumbered.uid,
        None,
    ]
    clock = await graph.audit.chain_links(HAPPENED_AFTER, events)
    assert clock[unnumbered.uid].follower == early.uid


@CHAINS
async def test_events_at_the_same_chain_position_are_ordered_by_uid(graph: Graph, chain: str) -> None:
    twins = sorted((turn(f"twin {n}", 2) for n in range(5)), key=lambda event: event.uid)
    events = [turn("first", 1), *twins, turn("last", 3)]
    await put(graph, events)
    found = await graph.audit.chain_links(chain, events)
    assert [found[event.uid].follower for event in events] == [*(event.uid for event in events[1:]), None]


@CHAINS
async def test_chain_links_report_at_most_max_unexpected_edges(graph: Graph, chain: str) -> None:
    hub, later = turn("hub", 1), turn("later", 2)
    others = [turn(f"o{number}", number) for number in range(3, 8 + MAX_UNEXPECTED)]
    ends = [("hub", other.name) for other in (later, *others)]
    await put(graph, [hub, later, *others], [edge(chain, *chain_ends(chain, *pair)) for pair in ends])
    link = (await graph.audit.chain_links(chain, [hub]))[hub.uid]
    assert (link.follower, link.joined, len(set(link.unexpected))) == (later.uid, True, MAX_UNEXPECTED)
    assert later.uid not in link.unexpected


async def test_belongs_to_counts_cover_all_tenants(graph: Graph) -> None:
    roots = [node("c1", Label.CONTEXT), node("c2", Label.CONTEXT)]
    ends = [("one", "c1"), ("two", "c1"), ("two", "c2")]
    await put(graph, [*roots, *map(node, ("none", "one", "two"))], [edge("BELONGS_TO", *pair) for pair in ends])
    await put(graph, [replace(node("foreign"), tenant="u")], tenant="u")
    uids = [make_uid(name) for name in ("none", "one", "two", "foreign", "never stored")]
    assert await graph.audit.belongs_to_counts(uids) == dict(zip(uids, (0, 1, 2, 0), strict=False))
    assert await graph.audit.belongs_to_counts([]) == {}


async def test_point_states_tell_unindexed_chunks_of_all_tenants(graph: Graph) -> None:
    waiting, done = node("waiting", Label.CHUNK, text="x"), node("done", Label.CHUNK, text="x", indexed=True)
    foreign = replace(node("foreign", Label.CHUNK, text="x"), tenant="u")
    await put(graph, [waiting, done, node("n")])
    await put(graph, [foreign], tenant="u")
    named = [waiting.uid, done.uid, foreign.uid, make_uid("n"), make_uid("never stored")]
    states = await graph.audit.point_states(named)
    assert {uid for uid, indexed in states.items() if not indexed} == {waiting.uid, foreign.uid}
    assert await graph.audit.point_states([]) == {}


async def test_merge_edges_pair_each_node_with_its_merge_targets(graph: Graph) -> None:
    told = [("a", "b"), ("a", "c"), ("b", "a")]
    await put(graph, [node(name) for name in "abcd"], [edge("MERGED_INTO", *pair) for pair in told])
    found = await graph.audit.merge_edges([make_uid("a"), make_uid("c"), make_uid("none")])
    assert sorted(found) == sorted((make_uid("a"), make_uid(name)) for name in "bc")
    assert await graph.audit.merge_edges([]) == []


async def test_find_cycles_finds_merge_circles_and_double_merges(graph: Graph) -> None:
    ways = ("ab", "bc", "cb", "de", "df", "ga")
    await put(graph, [node(name) for name in "abcdefg"], [edge("MERGED_INTO", *pair) for pair in ways])
    called = {make_uid(name): name for name in "abcdefg"}
    round_about, several = await find_cycles(called, graph.audit.merge_edges)
    assert {called[uid] for uid in round_about} == {"b", "c"}
    assert {called[uid] for uid in several} == {"d"}
