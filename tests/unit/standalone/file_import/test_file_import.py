"""Imports against a fake server that keeps items as the real one promises to."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from vicw_client import Retry, ServerUnreachableError, VicwClient
from vicw_ingest.file_import.summary import Summary
from vicw_readers.intake.source_file import ImportOptions
from vicw_standalone.file_import.service import ImportStoppedError, default_state_path, import_paths


class FakeServer:
    """Idempotent by item id and by Idempotency-Key; ``intercept`` may answer, or raise, in its place."""

    def __init__(self, name: str = "store") -> None:
        self.name = name
        self.items: dict[tuple[str, str], str] = {}
        self.log: list[tuple[str, str | None, list[dict[str, Any]]]] = []
        self.answers: dict[str, tuple[bytes, dict[str, Any]]] = {}
        self.intercept: Callable[[httpx.Request, dict[str, Any]], httpx.Response | None] = lambda *_: None
        self.busy: Counter[str] = Counter()
        self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/readyz":
            return httpx.Response(200, json={"status": "ready", "store": self.name})
        body = json.loads(request.content)
        flows = {item.get("flow_id") or "" for item in body["items"]} - {""}
        with self._lock:
            assert not any(self.busy[flow] for flow in flows), "two requests of one flow at once"
            self.busy.update(flows)
            self.busy["all"] += 1
            self.most_at_once = max(self.most_at_once, self.busy["all"])
        try:
            return self.intercept(request, body) or self.store(request.headers["Idempotency-Key"], request, body)
        finally:
            with self._lock:
                self.busy.subtract([*flows, "all"])

    def store(self, key: str, request: httpx.Request, body: dict[str, Any]) -> httpx.Response:
        with self._lock:
            if key in self.answers:
                stored, answer = self.answers[key]
                return httpx.Response(201 if stored == request.content else 409, json=answer)
            self.log.append((body["context"], body["domain"], body["items"]))
            statuses = [self._put(body["context"], item) for item in body["items"]]
            answer = {
                "context": body["context"],
                "context_uid": "u",
                "domain": "general",
                "job": None if body["wait"] else f"job-{len(self.log)}",
                "items": [
                    {
                        "id": None,
                        "uid": "1",
                        "status": status,
                        "label": "Entity",
                        "flow_id": None,
                        "flow_step": None,
                        "nodes": [],
                    }
                    for status in statuses
                ],
            }
            self.answers[key] = (request.content, answer)
        return httpx.Response(201, json=answer)

    def _put(self, context: str, item: dict[str, Any]) -> str:
        key = (context, item.get("id") or f"#{len(self.items)}")
        before = self.items.get(key)
        self.items[key] = item["text"]
        return "created" if before is None else "unchanged" if before == item["text"] else "updated"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def run(server: FakeServer, tmp_path: Path) -> Callable[..., Summary]:
    def run_import(*paths: Path, **options: Any) -> Summary:
        options.setdefault("state_path", tmp_path / "state" / "ledger.jsonl")
        retry = Retry(attempts=2, first_seconds=0, longest_seconds=0)
        with VicwClient("http://vicw.test", retry=retry, transport=httpx.MockTransport(server)) as client:
            return import_paths(client, paths, **options)

    return run_import


def jsonl(path: Path, *items: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def numbered(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": str(n), "text": f"text {n}", **more} for n in range(count)]


def test_import_stores_a_folder_and_summarises_it(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\n# B\n")
    (folder / "m.py").write_text("def f(): ...\n")
    (folder / "bad.txt").write_bytes(b"\xff")
    (folder / "empty.txt").touch()
    told: list[tuple[int, int | None]] = []
    summary = run(folder, progress=lambda done, total: told.append((done, total)))
    assert (summary.created, summary.stored, summary.skipped) == (3, 3, 0)
    assert [Path(r.path).name for r in summary.refused] == ["bad.txt"]
    assert [Path(r.path).name for r in summary.passed_over] == ["empty.txt"]
    assert summary.contexts == {"notes": 3}
    assert sorted((c, d or "", len(items)) for c, d, items in server.log) == [
        ("notes", "", 2),
        ("notes", "coding", 1),
    ]
    assert told[-1] == (3, 3)
    assert all(total in {None, 3} for _, total in told)


def test_an_id_again_is_refused_only_if_it_says_something_else(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    same, other = {"id": "1", "text": "a"}, {"id": "1", "text": "b"}
    summary = run(jsonl(tmp_path / "x.jsonl", same, same, other))
    assert [item["text"] for _, _, items in server.log for item in items] == ["a"]
    assert [one.line for one in summary.refused] == [3]


def test_batches_are_bounded_and_keep_the_order_of_a_flow(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    slow = iter([0.05, 0.0] * 50)
    server.intercept = lambda *_: time.sleep(next(slow))
    turns = [{"id": f"{f}{n}", "text": "x" * 10, "flow_id": f} for n in range(20) for f in "ab"]
    turns[10]["domain"] = "prose"
    run(jsonl(tmp_path / "x.jsonl", *turns), batch_items=7, in_flight=3)
    for flow in "ab":
        sent = [i["id"] for _, _, items in server.log for i in items if i["flow_id"] == flow]
        assert sent == [f"{flow}{n}" for n in range(20)]
    assert all(len(items) <= 7 for _, _, items in server.log)


def test_import_sends_requests_in_parallel_for_items_without_a_flow(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    server.intercept = lambda *_: time.sleep(0.05)
    run(jsonl(tmp_path / "x.jsonl", *numbered(60)), batch_items=10, in_flight=3)
    assert server.most_at_once == 3


def test_batches_are_bounded_by_characters(run: Callable[..., Summary], server: FakeServer, tmp_path: Path) -> None:
    sizes = [60, 30, 30, 500, 10]
    run(jsonl(tmp_path / "x.jsonl", *({"text": "x" * n} for n in sizes)), batch_chars=100, in_flight=1)
    assert [[len(i["text"]) for i in items] for _, _, items in server.log] == [[60, 30], [30], [500], [10]]


def test_a_second_import_sends_only_new_items_unless_again(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    file = jsonl(tmp_path / "x.jsonl", *numbered(5), {"text": "no id"}, {"text": "no id"})
    assert run(file).created == 7
    second = run(file)
    assert (second.skipped, second.stored) == (7, 0)
    assert len(server.items) == 7
    jsonl(file, {"text": "new"}, *numbered(5), {"text": "no id"}, {"text": "no id"})
    third = run(file)
    assert (third.skipped, third.created) == (7, 1)
    assert run(file, again=True).unchanged == 5


@pytest.mark.parametrize("lost", ["request", "answer", "ledger"])
def test_a_failed_import_continues_where_it_stopped(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path, lost: str
) -> None:
    file = jsonl(tmp_path / "x.jsonl", *({"text": f"text {n}"} for n in range(30)))
    count = 0

    def fail(request: httpx.Request, body: dict[str, Any]) -> httpx.Response | None:
        nonlocal count
        count += 1
        if count >= 3:
            if lost != "request":
                server.store(request.headers["Idempotency-Key"], request, body)
            raise httpx.ConnectError("gone", request=request)
        return None

    server.intercept = fail
    with pytest.raises(ImportStoppedError, match=r"http://vicw\.test cannot be reached.*again to continue") as stopped:
        run(file, batch_items=5)
    assert isinstance(stopped.value.__cause__, ServerUnreachableError)
    assert stopped.value.summary.created == 10
    ledger = tmp_path / "state" / "ledger.jsonl"
    if lost == "ledger":  # torn in the middle of its last line
        ledger.write_bytes(ledger.read_bytes()[:-20])
    server.intercept = lambda *_: None
    summary = run(file, batch_items=5)
    assert summary.skipped + summary.created == 30
    assert sorted(server.items.values()) == sorted(f"text {n}" for n in range(30))
    assert run(file).skipped == 30


def test_a_stopped_import_finishes_the_requests_under_way(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    stop = threading.Event()
    server.intercept = lambda *_: stop.set() if len(server.items) == 20 else None
    file = jsonl(tmp_path / "x.jsonl", *({"text": f"text {n}"} for n in range(40)))
    with pytest.raises(ImportStoppedError, match=r"^stopped\. 30 items stored; run .* again to continue") as stopped:
        run(file, batch_items=10, in_flight=1, stop=stop)
    assert stopped.value.__cause__ is None
    assert stopped.value.summary.created == len(server.items) == 30
    stop.clear()
    summary = run(file, batch_items=10, stop=stop)
    assert (summary.skipped, summary.created) == (30, 10)


def test_a_stopped_import_does_not_split_a_refused_large_batch(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    stop = threading.Event()
    problem = {"type": "t", "title": "t", "status": 413, "detail": "too large"}

    def refuse(*_: object) -> httpx.Response:
        stop.set()
        return httpx.Response(413, json=problem)

    server.intercept = refuse
    with pytest.raises(ImportStoppedError, match=r"^stopped"):
        run(jsonl(tmp_path / "x.jsonl", *numbered(9)), stop=stop)
    assert server.items == {}


def test_an_import_stores_the_valid_items_of_a_refused_batch(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    def refuse(request: httpx.Request, body: dict[str, Any]) -> httpx.Response | None:
        errors = [
            {"field": f"items[{n}].text", "problem": "is odious", "fix": "Be kind"}
            for n, item in enumerate(body["items"])
            if "bad" in item["text"]
        ]
        problem = {"type": "t", "title": "t", "status": 422, "detail": "d", "errors": errors[:1]}
        return httpx.Response(422, json=problem) if errors else None

    server.intercept = refuse
    file = jsonl(tmp_path / "x.jsonl", *({"text": t} for t in ("a", "bad 1", "b", "bad 2", "c")))
    summary = run(file)
    assert summary.created == 3
    assert [(r.line, r.reason) for r in summary.refused] == [
        (2, "text: is odious. Be kind"),
        (4, "text: is odious. Be kind"),
    ]
    assert list(server.items.values()) == ["a", "b", "c"]


def test_a_context_that_is_refused_refuses_its_items(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    problem = {"type": "t", "title": "t", "status": 422, "detail": "context: is too long"}
    server.intercept = lambda _, body: httpx.Response(422, json=problem) if len(body["context"]) > 9 else None
    file = jsonl(tmp_path / "x.jsonl", {"text": "a", "context": "c" * 10}, {"text": "b"})
    summary = run(file)
    assert summary.created == 1
    assert [(r.line, r.reason) for r in summary.refused] == [(1, "context: is too long")]


def test_an_import_batch_with_too_many_items_is_split(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    fault = {"field": "items", "problem": "has too many", "fix": "Send fewer"}
    problem = {"type": "t", "title": "t", "status": 422, "detail": "d", "errors": [fault]}
    server.intercept = lambda _, body: httpx.Response(422, json=problem) if len(body["items"]) > 2 else None
    assert run(jsonl(tmp_path / "x.jsonl", *numbered(7))).created == 7
    assert list(server.items.values()) == [f"text {n}" for n in range(7)]


def test_an_import_batch_that_is_too_large_is_split(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    problem = {"type": "t", "title": "t", "status": 413, "detail": "over VICW_MAX_ITEMS"}
    server.intercept = lambda _, body: (
        httpx.Response(413, json=problem) if sum(len(i["text"]) for i in body["items"]) > 20 else None
    )
    file = jsonl(tmp_path / "x.jsonl", *numbered(9), {"text": "x" * 21})
    summary = run(file)
    assert summary.created == 9
    assert list(server.items.values()) == [f"text {n}" for n in range(9)]
    assert [(r.line, r.reason) for r in summary.refused] == [(10, "over VICW_MAX_ITEMS")]


@pytest.mark.parametrize("status", [401, 404, 500, 503, 507])
def test_other_errors_stop_the_import(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path, status: int
) -> None:
    problem = {"type": "t", "title": "t", "status": status, "detail": "no"}
    server.intercept = lambda *_: httpx.Response(status, json=problem)
    with pytest.raises(ImportStoppedError, match=r"\bno\. (Items go to .*\. )?0 items"):
        run(jsonl(tmp_path / "x.jsonl", *numbered(3)))


def test_a_repeated_id_in_an_import_is_refused(run: Callable[..., Summary], server: FakeServer, tmp_path: Path) -> None:
    others = [{"id": "0", "text": "other"}, {"id": "0", "text": "a", "context": "c"}]
    file = jsonl(tmp_path / "x.jsonl", *numbered(2), *others)
    summary = run(file)
    assert summary.created == 3
    assert [(r.line, "'0' was already used" in r.reason) for r in summary.refused] == [(3, True)]


def test_an_import_without_waiting_returns_its_jobs(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    summary = run(jsonl(tmp_path / "x.jsonl", *numbered(3)), wait_until_found=False, batch_items=2)
    assert sorted(summary.jobs) == ["job-1", "job-2"]


def test_the_import_state_path_depends_on_server_and_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = default_state_path("http://a", [Path("x")])
    assert first.is_relative_to(tmp_path / "vicw" / "imports")
    assert first == default_state_path("http://a", [Path("x").absolute()])
    assert first != default_state_path("http://b", [Path("x")])
    assert first != default_state_path("http://a", [Path("y")])
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_state_path("http://a", []).is_relative_to(tmp_path / ".local" / "state")


def test_importing_into_a_new_store_at_the_same_url_sends_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = jsonl(tmp_path / "items.jsonl", *numbered(3))

    def stored(server: FakeServer) -> tuple[int, int]:
        with VicwClient("http://here", transport=httpx.MockTransport(server)) as client:
            summary = import_paths(client, [path], options=ImportOptions("c"))
        return summary.created, summary.skipped

    first, second = FakeServer("first"), FakeServer("second")
    assert (stored(first), stored(first), stored(second)) == ((3, 0), (0, 3), (3, 0))


def test_a_text_that_changes_to_and_fro_is_sent_each_time(
    run: Callable[..., Summary], server: FakeServer, tmp_path: Path
) -> None:
    for text in "ABABA":
        run(jsonl(tmp_path / "x.jsonl", {"id": "1", "text": text}))
        assert server.items == {("x", "1"): text}
