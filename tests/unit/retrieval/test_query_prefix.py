from __future__ import annotations

from dataclasses import replace

from memory import Memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.wire.retrieve import RetrieveRequest


async def test_the_models_prefix_goes_before_the_wrapped_query_and_never_before_a_document(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "a zebra crosses", "name": "Zoo"}, domain="coding")
    ports = replace(memory.standalone.retrieval_ports(), query_prefix="query: ")
    await retrieve(RetrieveRequest(query="which zebra?", domain="coding"), "default", ports)
    await memory.ingest({"id": "b", "text": "a yak grazes"}, domain="coding")
    assert [(lane.value, text) for lane, text in memory.embedder.seen] == [
        ("bulk", "[Domain: coding] [Type: document] [Name: Zoo] a zebra crosses"),
        ("query", "query: [Domain: coding] which zebra?"),
        ("bulk", "[Domain: coding] [Type: document] a yak grazes"),
    ]
