"""``vicw graph`` against a real memory, behind the HTTP of the one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from support.clients.loop_bridge import connected
from support.documents.flowchart import read
from support.stores.memory import Memory
from vicw_standalone.cli import app

CHAT = [
    ("t1", "build", "Ana", "The build broke because the lock file was stale."),
    ("t2", "trip", "Ben", "My sister Clara is coming to Lisbon."),
    ("t3", "build", "Ana", "The upgrade failed, so the lock file was stale."),
    ("t4", "trip", "Ben", "Clara booked a hotel."),
]
type Vicw = Callable[..., Result]


@pytest.fixture
async def vicw(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Vicw]:
    """Run the command in a thread of its own, connected to a memory of a chat."""
    turns = [{"id": i, "flow_id": f, "speaker": s, "text": t} for i, f, s, t in CHAT]
    await memory.ingest(*turns, context="chat", extract="rules")
    connected(monkeypatch, memory.standalone)
    with capture_logs():  # the server's would be on the command's own output
        yield lambda *arguments: CliRunner().invoke(app, ["graph", *arguments])


async def run(vicw: Vicw, *arguments: str) -> Result:
    return await asyncio.to_thread(vicw, *arguments)


def plain(chart: str) -> list[tuple[str, str, str, str]]:
    """Return the lines of a picture, of the boxes only what is said."""
    return [
        (a.partition("\n")[2] or a, arrow, label, b.partition("\n")[2] or b) for a, arrow, label, b in read(chart).lines
    ]


async def test_graph_show_causes_draws_the_causes_of_a_turn(vicw: Vicw) -> None:
    shown = await run(vicw, "show", "t1", "--causes")
    assert shown.exit_code == 0, shown.stderr
    assert ("the lock file was stale", "==>", "CAUSED 0.95", "The build broke") in plain(shown.stdout)
    whole = plain((await run(vicw, "show", "--context", "chat", "--causes")).stdout)
    assert {(a, b) for a, _, _, b in whole} == {
        ("the lock file was stale", "The build broke"),
        ("The upgrade failed", "the lock file was stale"),
    }, "two turns tell one chain"


async def test_graph_show_causes_finds_the_item_by_its_words(vicw: Vicw) -> None:
    shown = await run(vicw, "show", "why the build broke", "--causes")
    assert shown.exit_code == 0, shown.stderr
    assert ("the lock file was stale", "==>", "CAUSED 0.95", "The build broke") in plain(shown.stdout)
    assert "items with these words" in shown.stderr
    nothing = await run(vicw, "show", "volcanoes of Iceland", "--causes")
    assert (nothing.exit_code, "matches no uid, id or name" in nothing.stderr) == (2, True)


async def test_graph_show_thread_draws_one_flow_only(vicw: Vicw) -> None:
    for flow, turns in (("build", ("t1", "t3")), ("trip", ("t2", "t4"))):
        texts = [text for turn, _, _, text in CHAT if turn in turns]
        assert plain((await run(vicw, "show", "--flow", flow)).stdout) == [(texts[0], "-->", "NEXT", texts[1])]


async def test_kinship_edges_are_drawn(vicw: Vicw, memory: Memory) -> None:
    people = [{"name": name, "subtype": "person"} for name in ("Ben", "Clara")]
    sister = {"source": "Ben", "type": "HAS_RELATIONSHIP", "target": "Clara", "desc": "sister"}
    told = {"entities": people, "relations": [sister]}
    await memory.ingest({"id": "t5", "text": "Clara is his sister.", "extraction": told}, context="chat")
    shown = await run(vicw, "show", "--context", "chat", "--people")
    assert plain(shown.stdout) == [("Ben", "-->", "sister", "Clara")]
    assert plain((await run(vicw, "show", "clara", "--people")).stdout) == [("Ben", "-->", "sister", "Clara")]


async def test_supersession_edges_are_drawn(vicw: Vicw, memory: Memory) -> None:
    for city in ("Lisbon", "Porto"):
        await memory.ingest({"id": "home", "text": f"Ana lives in {city}."}, context="facts", extract="rules")
    shown = await run(vicw, "show", "home", "--history")
    assert [(a, label, b) for a, _, label, b in plain(shown.stdout)] == [
        ("Ana lives in Porto.", "SUPERSEDES", "Ana lives in Lisbon.")
    ]


async def test_supersession_edges_of_a_context_are_drawn(vicw: Vicw, memory: Memory) -> None:
    for city in ("Lisbon", "Porto"):
        await memory.ingest({"id": "home", "text": f"Ana lives in {city}."}, context="facts", extract="rules")
        await memory.ingest({"id": "ben", "text": f"Ben moved to {city}."}, context="facts", extract="rules")
    await memory.ingest({"text": "Ana lives in Rome."}, context="other", extract="rules")
    shown = await run(vicw, "show", "--history", "--context", "facts")
    assert {(a, b) for a, _, label, b in plain(shown.stdout) if label == "SUPERSEDES"} == {
        ("Ana lives in Porto.", "Ana lives in Lisbon."),
        ("Ben moved to Porto.", "Ben moved to Lisbon."),
    }
    as_json = await run(vicw, "show", "--history", "--context", "other", "--json")
    assert json.loads(as_json.stdout)["nodes"] == []


async def test_graph_json_is_the_answer_of_the_server(vicw: Vicw) -> None:
    told = json.loads((await run(vicw, "show", "t1", "--json", "--hops", "2", "--types", "next,caused")).stdout)
    assert {edge["type"] for edge in told["edges"]} == {"NEXT", "CAUSED"}
    assert told["complete"]
    assert json.loads((await run(vicw, "find", "ben", "--json")).stdout)["nodes"][0]["name"] == "Ben"


async def test_an_ambiguous_name_is_refused_with_the_uids_of_its_nodes(vicw: Vicw, memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "Hi", "speaker": "Ana"}, context="other")
    shown = await run(vicw, "show", "ana")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "'ana' is ambiguous; name the uid of one of these nodes:" in shown.stderr
    listed = (await run(vicw, "find", "ana")).stdout.splitlines()
    assert sorted(line.split("  ")[1:] for line in listed) == [["chat", "person", "Ana"], ["other", "person", "Ana"]]
    assert all(line in shown.stderr for line in listed)
    assert (await run(vicw, "show", listed[0].split()[0])).exit_code == 0
    assert (await run(vicw, "show", "ana", "--context", "other")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show"], "name a node, or --context CONTEXT"),
        (["show", "--history"], "name a node, or --context CONTEXT"),
        (["show", "t1", "--causes", "--people"], "--causes and --people exclude each other"),
        (["show", "t1", "--as-of", "yesterday"], "--as-of: 'yesterday' is not a time; write it as 2026-01-19"),
        (["show", "t1", "--types", "EATS"], "edge type 'EATS' is not registered. Use one of CAUSED"),
        (["show", "nobody"], "start[0]: 'nobody' matches no uid, id or name"),
        (["show", "hotel"], "Items with these words: "),
        (["show", "--flow", "none"], "flow: is not known. Name the `flow_id` that its items have"),
        (["find"], "give a name, or --context CONTEXT"),
    ],
)
async def test_a_graph_that_cannot_be_drawn_is_refused_with_the_fix(
    vicw: Vicw, arguments: list[str], told: str
) -> None:
    shown = await run(vicw, *arguments)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert told in shown.stderr


async def test_graph_show_hides_nodes_that_the_viewer_may_not_see(vicw: Vicw, memory: Memory) -> None:
    secret = {"id": "s", "text": "Ana is ill because she slept badly.", "sensitivity": "sensitive", "about": ["Ana"]}
    await memory.ingest(secret, context="chat", extract="rules")
    assert (await run(vicw, "show", "s", "--viewer", "ana")).exit_code == 0
    hidden = await run(vicw, "show", "s", "--viewer", "ben")
    assert (hidden.exit_code, "matches no uid, id or name" in hidden.stderr) == (2, True)
    around = await run(vicw, "show", "ana", "--viewer", "ben")
    assert (around.exit_code, "slept" in around.stdout) == (0, False)
    more = await run(vicw, "show", "ana", "--limit", "2")
    assert "not everything is shown; raise --limit" in more.stderr
