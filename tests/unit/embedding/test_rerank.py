"""A cross-encoder in a GGUF file, of random weights: it judges, alike in any company, and ends with who gave up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from unit.embedding.tiny_models import cross_encoder
from vicw_embedding.library import ModelFile
from vicw_embedding.rerank.app import create_app
from vicw_embedding.rerank.engine import RerankEngine
from vicw_embedding.supervisor import RerankProcess
from vicw_shared.adapters.http_reranker import HttpReranker
from vicw_shared.errors import OverloadedError, SettingsError
from vicw_shared.http import SecretGate
from vicw_shared.settings import LimitSettings, RerankSettings

TEXTS = ["the river and the stone", "key of the user", "light " * 700, "why", ""]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("rerank") / "judge.gguf")


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[RerankEngine]:
    opened = RerankEngine(path, threads=1, queue_requests=2)
    yield opened
    await asyncio.to_thread(opened.close)


async def test_a_text_has_its_score_in_any_company(engine: RerankEngine) -> None:
    together = await engine.rerank("why broke the build", TEXTS)
    apart = [(await engine.rerank("why broke the build", [text]))[0] for text in TEXTS]
    assert together == pytest.approx(apart, abs=1e-2)
    assert len(set(together[:4])) == 4
    other = await engine.rerank("memory of the river", TEXTS)
    assert together != pytest.approx(other, abs=1e-3), "the question counts"


async def test_too_many_who_wait_are_sent_away_and_who_gives_up_ends_the_work(engine: RerankEngine) -> None:
    long = ["stone " * 400] * 400
    waiting = [asyncio.create_task(engine.rerank("why", long)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await engine.rerank("why", ["stone"])
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    async with asyncio.timeout(20):
        assert len(await engine.rerank("why", ["stone"])) == 1


async def test_the_wire_is_that_of_others(engine: RerankEngine) -> None:
    app = create_app(engine, SecretGate(None, variable="VICW_RERANK_API_KEY"), LimitSettings(), documents=4)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rerank") as client:
        asked = {"model": "any", "query": "why", "documents": TEXTS[:4], "top_n": 2, "return_documents": True}
        answer = (await client.post("/v1/rerank", json=asked)).json()
        assert len(answer["results"]) == 2
        best, second = answer["results"]
        assert best["relevance_score"] >= second["relevance_score"]
        refused = await client.post("/v1/rerank", json={"query": "why", "documents": TEXTS})
        assert (refused.status_code, "VICW_RERANK_DOCUMENTS" in refused.text) == (413, True)
        assert (await client.post("/v1/rerank", json={"query": "why"})).status_code == 422


def test_what_is_no_cross_encoder_is_refused_before_llama_cpp_sees_it(tmp_path: Path, tiny_decoder: ModelFile) -> None:
    with pytest.raises(SettingsError, match="there is no such file"):
        RerankEngine(tmp_path / "none.gguf", threads=1)
    with pytest.raises(SettingsError, match="is no cross-encoder"):
        RerankEngine(tiny_decoder.path, threads=1)
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(SettingsError, match="is not a readable GGUF"):
        RerankEngine(tmp_path / "text.gguf", threads=1)


async def test_a_process_of_its_own_judges(path: Path) -> None:
    process = RerankProcess(RerankSettings(model=str(path), threads=1))
    await process.start()
    model = HttpReranker(uds=process.uds)
    try:
        first = await model.rerank("why", TEXTS[:3])
        assert len(first) == 3
        assert await model.rerank("why", TEXTS[:3]) == pytest.approx(first, abs=1e-3)
    finally:
        await model.close()
        await process.close()
    assert process.pid is None
