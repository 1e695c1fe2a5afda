"""A VICW in this process, for what a client does: it stores by id, finds by words, and can be away."""

from __future__ import annotations

import json
from typing import Any

import httpx


class FakeVicw:
    """Its items, in the order of their arrival. ``fails`` is what it does to the next requests of a path."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.fails: dict[str, int | type[httpx.RequestError]] = {}
        self.refuses = ""
        self.breaks = ""

    @property
    def texts(self) -> list[str]:
        return [item["text"] for item in self.items.values()]

    def sent(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, body in self.requests if asked == path]

    def handle(self, request: httpx.Request) -> httpx.Response:
        path, body = request.url.path, json.loads(request.content)
        self.requests.append((path, body))
        fault = self.fails.get(path)
        if isinstance(fault, type):
            raise fault("away", request=request)
        if fault is not None:
            return _problem(fault)
        return self._store(body) if path == "/ingest" else self._find(body)

    async def handle_async(self, request: httpx.Request) -> httpx.Response:
        return self.handle(request)

    def _store(self, body: dict[str, Any]) -> httpx.Response:
        for says, status in ((self.refuses, 422), (self.breaks, 500)):
            if says and any(says in item["text"] for item in body["items"]):
                return _problem(status)
        for item in body["items"]:
            assert self.items.setdefault(item["id"], item) == item, "an id is never used for another text"
        items = [
            {"id": i["id"], "uid": "u", "status": "created", "label": "Event", "flow_id": None, "flow_step": None}
            | {"nodes": []}
            for i in body["items"]
        ]
        answer = {"context": body["context"], "context_uid": "u", "domain": "general", "job": "j", "items": items}
        return httpx.Response(202, json=answer)

    def _find(self, body: dict[str, Any]) -> httpx.Response:
        words = set(body["query"].lower().split())
        found = [item for item in self.items.values() if words & set(item["text"].lower().split())]
        return httpx.Response(200, json=answer_of([result_of(n, **item) for n, item in enumerate(found, start=1)]))


def result_of(rank: int, text: str, **item: Any) -> dict[str, Any]:
    """Return a result as /retrieve gives it."""
    return {
        "id": item.get("id"),
        "uid": f"uid-{item.get('id', rank)}",
        "label": "Event",
        "subtype": "message",
        "name": item.get("name", text[:20]),
        "text": text,
        "score": 1.0 / rank,
        "rank": rank,
        "context": item.get("context", "chat"),
        "domain": "general",
        "speaker": item.get("speaker"),
        "timestamp": item.get("timestamp"),
    }


def answer_of(results: list[dict[str, Any]], **graph: Any) -> dict[str, Any]:
    """Return an answer of /retrieve."""
    intent = {"domain": "general", "confidence": 0.0, "domain_source": "none", "filtered": False}
    return {"intent": intent, "results": results, "graph": graph, "text": "", "took_ms": {"total": 1.0}}


def _problem(status: int) -> httpx.Response:
    problem = {"type": "urn:vicw:problem:x", "title": "t", "status": status, "detail": f"answers {status}"}
    return httpx.Response(status, json=problem)
