from __future__ import annotations

from dataclasses import replace

from support.stores.memory import Memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.ports import Lane
from vicw_shared.wire.retrieve import RetrieveRequest


async def test_the_query_prefix_precedes_queries_and_never_documents(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "a zebra crosses", "name": "Zoo"}, domain="coding")
    ports = replace(memory.standalone.retrieval_ports(), query_prefix="query: ")
    await retrieve(RetrieveRequest(query="which zebra?", domain="coding"), "default", ports)
    await memory.ingest({"id": "b", "text": "a yak grazes"}, domain="coding")
    assert memory.embedder.questions() == ["query: [Domain: coding] which zebra?"]
    items = [text for lane, text in memory.embedder.seen if lane is Lane.BULK and "[Type: document]" in text]
    assert items == [
        "[Domain: coding] [Type: document] [Name: Zoo] a zebra crosses",
        "[Domain: coding] [Type: document] a yak grazes",
    ]
    phrases = [text for lane, text in memory.embedder.seen if lane is Lane.BULK and text not in items]
    assert all(text.startswith("query: ") for text in phrases), "example questions are questions"
