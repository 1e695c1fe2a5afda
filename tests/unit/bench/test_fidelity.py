from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from support.fakes.hash_embedder import HashEmbedder
from support.generators.retrieval_set import CODE, TALES, write_set
from support.stores.memory import settings_for
from vicw_bench.fidelity.busy_loops import busy_loops
from vicw_bench.fidelity.measure import (
    ABLATION,
    AS_SET,
    WITH,
    WITHOUT,
    Measured,
    SetReport,
    beside_busy_loops,
    measure,
)
from vicw_bench.fidelity.pooled import compare, separate
from vicw_bench.fidelity.run import anew
from vicw_bench.filling import Filled, read_marker
from vicw_bench.metrics import Answered, score
from vicw_bench.report import (
    against_single_lines,
    caveat_lines,
    fidelity_json,
    fidelity_table,
    separation_table,
    write_json,
)
from vicw_bench.sets import load_set
from vicw_bench.speed.server import children
from vicw_bench.targets import LocalTarget, open_local
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.ports import Embedder, Lane
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.ingest import Extract


def quiet(step: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def opened(store: Path, embedder: Embedder | None = None) -> AbstractAsyncContextManager[LocalTarget]:
    return open_local(settings_for(store.parent / "unused"), store, embedder or HashEmbedder())


async def test_a_set_is_filled_once_and_measured_in_every_variant(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    store = tmp_path / "store"
    async with opened(store) as target:
        report = await measure(target, data, store, ABLATION, quiet)
    assert (report.items, report.questions, report.filled.created, report.filled_now) == (4, 4, 4, True)
    assert report.filled.chars == sum(map(len, CODE))
    fusions = get_args(RetrievalSettings.model_fields["fusion"].annotation)
    mechanisms = [variant.name for variant in (*WITHOUT, *WITH)]
    assert [way.variant for way in report.ways] == [
        "dense",
        "bm25",
        "no vectors",
        "as set",
        "any context",
        *fusions,
        *mechanisms,
        "names",
    ]
    for way in report.ways[:-1]:
        assert (way.overall.recall_at_5, way.overall.mrr) == (1.0, 1.0)
        assert {name: scores.questions for name, scores in way.categories.items()} == {"c0": 2, "c1": 2}
    assert report.against_single == dict.fromkeys(("as set", *fusions), 1.0 - max(1.0, 1.0))

    embedder = HashEmbedder()
    async with opened(store, embedder) as target:
        again = await measure(target, data, store, (AS_SET,), quiet)
    assert not again.filled_now
    assert again.filled == report.filled
    assert len(embedder.questions()) == len(CODE), "only the questions are embedded"
    assert again.against_single == {}


async def test_a_set_is_asked_beside_busy_loops_with_the_settings_that_users_have(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    store, settings = tmp_path / "store", settings_for(tmp_path / "unused")
    async with open_local(settings, store, HashEmbedder()) as target:
        report = await measure(target, data, store, (AS_SET, beside_busy_loops(1)), quiet)
        described = await target.describe()
    assert [way.variant for way in report.ways] == ["as set", "beside 1 busy loop"]
    assert report.gain(report.ways[1]) == (0.0, 0.0)
    assert described["retrieval"] == settings.retrieval.model_dump(mode="json"), "no more time than users have"


def test_busy_loops_end_with_their_block() -> None:
    before = children(os.getpid())
    with busy_loops(2):
        loops = [pid for pid in children(os.getpid()) if pid not in before]
        assert len(loops) == 2
    assert not set(loops) & set(children(os.getpid()))


@asynccontextmanager
async def wordy_server() -> AsyncIterator[tuple[OpenAIEmbedder, list[int]]]:
    """An embedding server whose tokens are words, and what it has told of each request."""
    told: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        rows = await HashEmbedder().embed(texts, Lane.BULK)
        told.append(sum(len(text.split()) for text in texts))
        data = [{"index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
        return web.json_response({"data": data, "model": "w", "usage": {"prompt_tokens": 0, "total_tokens": told[-1]}})

    app = web.Application()
    app.router.add_post("/v1/embeddings", answer)
    async with TestServer(app) as server:
        yield OpenAIEmbedder(base_url=str(server.make_url("/v1")), model="w"), told


async def test_tokens_per_second_counts_only_tokens_embedded_during_the_fill(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    store = tmp_path / "store"
    async with wordy_server() as (embedder, told), opened(store, embedder) as target:
        earlier = sum(told)
        filled = (await measure(target, data, store, (), quiet)).filled
        assert earlier > 0, "the size of a vector was asked for"
        assert filled.tokens == sum(told) - earlier
        asked = await measure(target, data, store, (AS_SET,), quiet)
    assert filled.tokens_per_second == filled.tokens / filled.seconds
    assert asked.filled == filled, "questions are not counted"


def test_throughput_is_shown_only_if_the_run_stored_the_set() -> None:
    def shown(filled: Filled, *, now: bool = True) -> tuple[list[str], tuple[float | None, float | None]]:
        way = Measured("as set", score([]), {})
        report = SetReport("x", 10, 0, 0, filled, now, (way,))
        written = fidelity_json({}, [report], [])["sets"][0]
        table = fidelity_table([report])
        cells = [next(iter(column.cells)) for column in table.columns if str(column.header).endswith("/s")]
        return [str(cell) for cell in cells], (written["tokens_per_second"], written["chars_per_second"])

    assert shown(Filled(10, 10, 4000, 2.0, 1000)) == (["500", "2,000"], (1000 / 2.0, 4000 / 2.0))
    assert shown(Filled(10, 10, 4000, 2.0)) == (["", "2,000"], (None, 4000 / 2.0))
    assert shown(Filled(10, 9, 4000, 2.0, 1000)) == (["", ""], (None, None))
    assert shown(Filled(10, 10, 4000, 2.0, 1000), now=False) == (["", ""], (None, None))


def test_an_ablation_reports_the_gain_of_each_mechanism() -> None:
    def way(name: str, recall: float) -> Measured:
        return Measured(name, replace(score([]), recall_at_5=recall, recall_at_10=recall), {})

    ways = (way("bm25", 0.25), way("as set", 0.75), way("without lift", 0.5), way("with recency", 0.625))
    report = SetReport("x", 10, 0, 1, Filled(10, 10, 4000, 2.0), filled_now=False, ways=ways)
    worth = {"bm25": (-0.5, -0.5), "as set": None, "without lift": (0.25, 0.25), "with recency": (-0.125, -0.125)}
    assert {one.variant: report.gain(one) for one in ways} == worth
    assert fidelity_json({}, [report], [])["sets"][0]["worth"] == worth
    columns = {str(column.header): list(column.cells) for column in fidelity_table([report]).columns}
    assert columns["worth R@10"] == ["-0.500", "", "+0.250", "-0.125"]
    alone = SetReport("x", 10, 0, 1, Filled(10, 10, 4000, 2.0), filled_now=False, ways=ways[1:2])
    assert not any(str(column.header).startswith("worth") for column in fidelity_table([alone]).columns)


async def test_an_interrupted_fidelity_run_continues_with_the_filled_store(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    store = tmp_path / "store"

    class StoppedError(Exception):
        pass

    def stop(step: str, done: int, total: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        async with opened(store) as target:
            await measure(target, data, store, (AS_SET,), stop)
    assert read_marker(store) is None
    async with opened(store) as target:
        report = await measure(target, data, store, (AS_SET,), quiet)
    assert (report.filled.items, report.filled.created) == (4, 0)
    assert report.filled.chars_per_second is None
    assert report.ways[0].overall.recall_at_5 == 1.0


async def test_pooled_sets_are_measured_with_and_without_a_domain(tmp_path: Path) -> None:
    sets = [
        load_set(write_set(tmp_path / "code", CODE, domain="code")),
        load_set(write_set(tmp_path / "tales", TALES, domain="prose")),
    ]
    async with opened(tmp_path / "store") as target:
        rows = await separate(target, sets, tmp_path / "store", quiet)
    assert [row.name for row in rows] == ["code", "tales", "all"]
    assert [row.questions for row in rows] == [4, 4, 8]
    assert rows[2].foreign == rows[0].foreign + rows[1].foreign
    assert rows[2].slots == rows[0].slots + rows[1].slots
    assert [row.recall_given for row in rows] == [1.0, 1.0, 1.0], "a namesake of another context is no evidence"


def test_questions_without_a_task_are_compared_with_single_channels_apart() -> None:
    def way(name: str, *found: str) -> Measured:
        answers = [Answered("", (one,), frozenset("a"), 1.0) for one in found]
        return Measured(name, score(answers), {}, score(answers[:2]))

    ways = (way("dense", "a", "b", "a"), way("bm25", "b", "b", "b"), way("as set", "a", "a", "b"))
    report = SetReport("s", 3, 0, 3, Filled(3, 3, 0, 0.0), False, ways)
    assert report.unsure_against_single == (2, 0.5)
    assert report.against_single["as set"] == 0.0
    alone = SetReport("s", 3, 0, 3, Filled(3, 3, 0, 0.0), False, ways[2:])
    assert alone.unsure_against_single is None, "without single channels"


def test_foreign_share_counts_slots_of_questions_with_a_domain() -> None:
    def answer(found: str, *domains: str) -> Answered:
        return Answered("", tuple(found), frozenset("a"), 1.0, "code", domains)

    row = compare("x", [answer("ab", "code", "prose"), answer("b", "prose")], [answer("a", "code")] * 2)
    assert (row.foreign, row.slots) == (2, 3)
    assert row.foreign_share == 2 / 3
    assert row.lost == 1.0 - (1.0 + 0.0) / 2
    assert row.categories[""].slots == 3


async def test_the_fidelity_report_has_lines_tables_and_json(tmp_path: Path) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    async with opened(tmp_path / "store") as target:
        report = await measure(target, data, None, ABLATION, quiet)
        described = await target.describe()
    *_, fused, unsure = against_single_lines([report])
    assert fused == "rrf vs better single channel, code: R@10 +0.000"
    assert re.fullmatch(r"as set, [1-4] questions of no task, vs better single channel, code: R@10 \+0\.000", unsure)
    assert described["model"]["name"] == "hash"
    path = tmp_path / "out" / "report.json"
    write_json(path, fidelity_json(described, [report], []))
    written = json.loads(path.read_text())
    assert written["sets"][0]["ways"][0]["overall"]["recall_at_10"] == 1.0
    assert written["sets"][0]["against_single"]["rrf"] == 0.0
    assert written["measured"]["retrieval"]["fusion"] == RetrievalSettings().fusion
    assert fidelity_table([report], categories=True).row_count == (len(ABLATION) + 1) * (1 + 2)
    assert separation_table([compare("x", [], [])]).row_count == 1


async def test_the_names_variant_finds_entities_only_with_extraction(tmp_path: Path) -> None:
    texts = ["Marta Kowalska met Olek in Gdansk.", "Marta Kowalska was late again.", "The ferry was late."]
    data = load_set(write_set(tmp_path / "talk", texts, domain="general"))
    found = {}
    for extract in (Extract.AUTO, Extract.NONE):
        async with opened(tmp_path / extract) as target:
            report = await measure(target, data, None, ABLATION, quiet, extract)
        found[extract] = {way.variant: way.overall.mrr for way in report.ways}["names"]
    assert found == {Extract.AUTO: (1 + 1 / 2 + 0) / 3, Extract.NONE: 0.0}


def test_only_a_noticeable_loss_is_marked() -> None:
    def loses(by: float) -> SetReport:
        class Losing(SetReport):
            @property
            def against_single(self) -> dict[str, float]:
                return {"rrf": -by}

        return Losing("x", 0, 0, 0, None, False, ())  # type: ignore[arg-type]

    assert against_single_lines([loses(0.03)]) == ["rrf vs better single channel, x: R@10 -0.030  ← worse"]
    assert against_single_lines([loses(0.01)]) == ["rrf vs better single channel, x: R@10 -0.010"]


async def test_caveat_lines_name_left_out_items_and_degraded_answers(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "code", CODE, domain="code")
    with (folder / "items.jsonl").open("a") as file:
        file.write('{"id": "blank", "context": "shared", "text": " "}')
    embedder = HashEmbedder()
    async with opened(tmp_path / "store", embedder) as target:
        data = load_set(folder)
        await measure(target, data, None, (), quiet)
        embedder.down = True
        report = await measure(target, data, tmp_path / "store", (AS_SET,), quiet)
    assert caveat_lines([report]) == [
        "code: 1 items without text were left out",
        "code, as set: 4 answers were degraded (a channel failed or was too slow)",
    ]


def test_filling_anew_is_announced_if_a_store_of_another_model_exists(tmp_path: Path) -> None:
    assert anew(tmp_path / "small-0123") is None, "nothing is there: filling it is no surprise"
    (tmp_path / "small-4567").mkdir()
    line = anew(tmp_path / "small-0123")
    assert line is not None
    assert "small-4567" in line
    assert "another model" in line
    assert anew(tmp_path / "small-4567") is None
    assert anew(tmp_path / "smaller-0123") is None
