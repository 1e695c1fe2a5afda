from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from support.generators.retrieval_set import CODE, write_set
from support.stores.memory import settings_for
from vicw_bench.fidelity.measure import AS_SET, BM25, DENSE, measure
from vicw_bench.report import growth_table, ingest_json, ingest_lines, speed_json, speed_lines, speed_table, write_json
from vicw_bench.sets import load_set
from vicw_bench.speed.growth import Growth
from vicw_bench.speed.ingest import IngestReport, measure_ingest, post_all
from vicw_bench.speed.retrieve import identity_of, measure_speed
from vicw_bench.speed.server import disk_mb, serve
from vicw_bench.speed.synthetic import Chat
from vicw_bench.targets import open_http
from vicw_client import AsyncVicwClient, RetryLaterError
from vicw_shared.errors import UnavailableError
from vicw_shared.wire.ingest import Extract, IngestRequest, Item


def quiet(step: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def test_the_ingest_ratio_is_the_median_of_the_rounds(tmp_path: Path) -> None:
    growth = Growth(Counter({"Chunk": 4}), Counter({"NEXT": 2}), largest_degree=3, busiest="Ana")
    report = IngestReport(4, 6, 100, through=(8.0, 10.0, 9.0), alone=(10.0, 20.0, 10.0), growth=growth)
    assert report.ratio == 0.8, "of 0.8, 0.5 and 0.9"
    first, second = ingest_lines(report)
    assert first.endswith("6 texts with vectors: 9 texts/s through /ingest, 10 by the embedder alone, ratio 0.80")
    assert second == "largest degree: 3, of 'Ana'"
    write_json(tmp_path / "out.json", ingest_json({}, report))
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))["ingest"]
    assert (written["growth"]["nodes"], written["growth"]["edges"]) == (growth.nodes, growth.edges)


def test_disk_counts_blocks_not_lengths(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**24)
    (tmp_path / "full").write_bytes(b"x" * 2**20)
    assert 1 <= disk_mb(tmp_path) < 2


@pytest.mark.parametrize(("status", "error"), [(202, UnavailableError), (503, RetryLaterError)])
async def test_post_all_raises_unless_items_are_stored_and_indexed_at_once(status: int, error: type[Exception]) -> None:
    tries: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        tries.append(request.path)
        stored = {"context": "c", "context_uid": "u", "domain": "general", "job": "later", "items": []}
        return web.json_response(stored, status=status)

    app = web.Application()
    app.router.add_post("/ingest", answer)
    async with TestServer(app) as server:
        with pytest.raises(error):
            await post_all(str(server.make_url("/")), list(Chat().requests(1)))
    assert tries == ["/ingest"], "a second try would be measured as a slow first one"


@pytest.mark.process
async def test_measure_speed_reports_latency_memory_and_disk_of_a_real_server(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "base")
    identity = await identity_of(settings)
    report = await measure_speed(settings, tmp_path / "store", identity, 60, (1, 2), 4, quiet)
    assert [(row.clients, row.queries) for row in report.latencies] == [(1, 4), (2, 4)]
    assert all(0 < row.p50_ms <= row.p95_ms <= row.p99_ms for row in report.latencies)
    assert all(row.stages["total"] > 0 for row in report.latencies)
    assert report.resident.keys() == {"server", "embedding"}
    assert all(0 < size.own < size.total for size in report.resident.values())
    assert report.disk_mb > 0

    assert speed_table([report]).row_count == 2
    assert len(speed_lines([report])) == 1
    assert speed_json({}, [report])["stores"][0]["memories"] == 60


@pytest.mark.process
async def test_measure_ingest_reports_throughput_ratio_and_graph_growth(tmp_path: Path) -> None:
    texts = ["Ana Souza moved to Lyon. The build failed because the disk was full.", "Bram met Ana Souza."]
    given = [IngestRequest(context=f"c{n}", domain="general", items=tuple(map(said, texts))) for n in range(2)]
    report = await measure_ingest(settings_for(tmp_path / "base"), given, Extract.RULES, 3, quiet)
    assert (report.items, len(report.through), len(report.alone)) == (4, 2, 2)
    assert all(rate > 0 for rate in (*report.through, *report.alone))
    # Of each context two passages and the two sentences of the first; the second shares its passage's vector.
    assert report.texts == 8
    assert report.growth.nodes["Chunk"] == 4
    assert report.growth.nodes["statement"] == 6
    assert report.growth.nodes["Entity"] >= 4
    assert report.growth.edges["CAUSED"] == 2
    assert report.growth.largest_degree >= 3
    assert growth_table(report).row_count > 5
    assert f"ratio {report.ratio:.2f}" in ingest_lines(report)[0]
    assert ingest_json({}, report)["ingest"]["ratio"] == report.ratio

    untold = await measure_ingest(settings_for(tmp_path / "base"), given, Extract.NONE, 1, quiet)
    assert (untold.texts, untold.growth.nodes["statement"]) == (4, 0)


@pytest.mark.process
async def test_a_measured_server_has_loaded_its_model_before_it_gets_requests(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "base")
    async with (
        serve(tmp_path / "data", model=settings.embedding.model, models_dir=settings.models_dir) as server,
        AsyncVicwClient(server.url) as client,
    ):
        assert (await client.ready()).detail == "", "otherwise the first requests are measured with the start"


def said(text: str) -> Item:
    return Item(text=text, speaker="Bram")


@pytest.mark.process
async def test_fidelity_is_measured_over_http_on_a_running_server(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    settings = settings_for(tmp_path / "base")
    async with (
        serve(tmp_path / "data", model=settings.embedding.model, models_dir=settings.models_dir) as server,
        open_http(server.url) as target,
    ):
        report = await measure(target, data, None, (DENSE, BM25, AS_SET), quiet)
        assert await target.describe() == {"url": server.url}
    assert report.filled.created == len(CODE)
    assert [way.overall.recall_at_5 for way in report.ways] == [1.0, 1.0, 1.0]
    assert report.against_single == {"as set": 0.0}
