"""What every graph must do with how far the sleep cycle is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph
from vicw_shared.ports import Round

BEGUN = Round("dream", AT, AT + timedelta(seconds=5), 1)


async def test_the_last_round_of_each_task_is_kept(graph: Graph) -> None:
    assert await graph.log.rounds() == []
    await graph.log.note_round(BEGUN)
    other = Round("consolidation", AT, AT, error="the index 'x' is \N{SNOWMAN} away")
    await graph.log.note_round(other)
    assert await graph.log.rounds() == [other, BEGUN]
    over = replace(BEGUN, at=AT + timedelta(minutes=1), turns=4, over=True)
    await graph.log.note_round(over)
    assert await graph.log.rounds() == [other, over]
