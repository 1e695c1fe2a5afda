"""The wire, over the real application and the real model."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator

import httpx
import numpy as np
import pytest
from pydantic import SecretStr

from support.metrics.counters import metric_increase
from vicw_embedding import wiring
from vicw_embedding.app import create_app
from vicw_embedding.engine.batcher import Batcher
from vicw_embedding.engine.engine import Engine
from vicw_embedding.models.model_files import ModelFile
from vicw_embedding.process.serving import gate
from vicw_embedding.wiring import ServedModel
from vicw_runtime.browser_guard import BrowserGuard
from vicw_shared.errors import InvalidInputError, SettingsError
from vicw_shared.ports.embedder import Lane
from vicw_shared.settings import LimitSettings
from vicw_shared.settings.concerns import EmbeddingSettings

KEY = "VICW_EMBEDDING_API_KEY"


@pytest.fixture
def served(engine: Engine) -> ServedModel:
    return ServedModel(engine.file, engine, Batcher(engine))


def open_client(served: ServedModel, secret: str | None = None) -> httpx.AsyncClient:
    door = gate(SecretStr(secret) if secret else None, KEY, "127.0.0.1")
    app = create_app(served, door, LimitSettings(body_bytes=1_000_000), BrowserGuard("127.0.0.1"))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1/v1")


@pytest.fixture
async def client(served: ServedModel) -> AsyncIterator[httpx.AsyncClient]:
    async with open_client(served) as opened:
        yield opened


async def test_float_and_base64_encodings_give_the_same_vectors(client: httpx.AsyncClient) -> None:
    body = {"input": ["river stone", "time"], "model": "whatever", "user": "somebody"}
    floats = (await client.post("/embeddings", json=body)).raise_for_status().json()
    packed = (await client.post("/embeddings", json={**body, "encoding_format": "base64"})).json()

    assert [row["index"] for row in floats["data"]] == [0, 1]
    assert floats["model"] == "tiny-encoder"
    assert floats["usage"]["total_tokens"] == floats["usage"]["prompt_tokens"] > 4
    for row, same in zip(floats["data"], packed["data"], strict=True):
        vector = np.frombuffer(base64.b64decode(same["embedding"]), dtype="<f4")
        np.testing.assert_allclose(vector, row["embedding"], rtol=1e-6)
        assert np.linalg.norm(vector) == pytest.approx(1, rel=1e-5)


async def test_a_single_text_is_accepted_as_a_bare_string(client: httpx.AsyncClient) -> None:
    answer = (await client.post("/embeddings", json={"input": "time"})).json()

    assert len(answer["data"]) == 1


async def test_vectors_are_cut_and_normalised_where_the_model_allows_it(client: httpx.AsyncClient) -> None:
    whole, cut = [
        (await client.post("/embeddings", json={"input": "time", "dimensions": size})).json()["data"][0]["embedding"]
        for size in (1024, 256)
    ]

    np.testing.assert_allclose(cut, np.array(whole[:256]) / np.linalg.norm(whole[:256]), rtol=1e-5)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"input": []}, "input"),
        ({}, "input"),
        ({"input": "x", "dimensions": 0}, "dimensions"),
        ({"input": "x", "dimensions": 255}, "dimensions"),
        ({"input": "x", "dimensions": 1025}, "dimensions"),
        ({"input": [1, 2]}, "input"),
    ],
)
async def test_wrong_fields_are_named(client: httpx.AsyncClient, body: dict[str, object], field: str) -> None:
    response = await client.post("/embeddings", json=body)

    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["field"].startswith(field)


async def test_a_lane_that_does_not_exist_is_an_error(client: httpx.AsyncClient) -> None:
    response = await client.post("/embeddings", json={"input": "x"}, headers={"X-VICW-Lane": "express"})

    assert response.status_code == 422


async def test_a_full_queue_answers_429_with_retry_after(client: httpx.AsyncClient) -> None:
    rejected = metric_increase("vicw_embedding_rejected_total", lane="query")
    batches = metric_increase("vicw_embedding_batch_sequences_count", lane="query")
    sequences = metric_increase("vicw_embedding_batch_sequences_sum", lane="query")
    answers = await asyncio.gather(
        *(client.post("/embeddings", json={"input": ["a"] * 1000}, headers={"X-VICW-Lane": "query"}) for _ in "1234"),
        *(client.post("/embeddings", json={"input": ["x"]}) for _ in "12"),
    )

    statuses = [answer.status_code for answer in answers]
    assert sorted(statuses[:4]) == [200, 200, 200, 429]
    assert statuses[4:] == [200, 200], "the other lane is not full"
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.headers["Retry-After"] == "1"
    assert (rejected(), sequences()) == (1, 3000)
    assert 3000 / 64 <= batches() < 3000
    assert (await client.post("/embeddings", json={"input": ["x"] * 3001})).status_code == 413


async def test_the_model_is_named_with_its_size_and_digest(client: httpx.AsyncClient, served: ServedModel) -> None:
    (row,) = (await client.get("/models")).json()["data"]

    assert (row["id"], row["size"], row["digest"]) == ("tiny-encoder", 1024, served.file.digest)


async def test_probes_and_metrics_report_the_state_of_the_model(client: httpx.AsyncClient, served: ServedModel) -> None:
    from vicw_embedding import metrics

    metrics.watch(served.engine)
    await client.post("/embeddings", json={"input": ["x", "y"]}, headers={"X-VICW-Lane": "query"})
    root = "http://127.0.0.1"

    assert (await client.get(f"{root}/healthz")).status_code == 200
    assert (await client.get(f"{root}/readyz")).json()["dependencies"] == ["model"]
    text = (await client.get(f"{root}/metrics")).text
    assert 'vicw_embedding_texts_total{lane="query"}' in text
    assert 'vicw_embedding_queue_texts{lane="bulk"} 0.0' in text
    served.engine.close()
    down = await client.get(f"{root}/readyz")
    assert down.status_code == 503
    assert "model" in down.json()["failing"]


@pytest.mark.parametrize("sent", [None, "", "Bearer", "Bearer guess", "Bearer sésam", "Basic sésame", "sésame"])
async def test_requests_without_the_api_key_get_401_before_body_parsing(served: ServedModel, sent: str | None) -> None:
    headers = {} if sent is None else {b"Authorization": sent.encode()}
    async with open_client(served, "sésame") as client:
        for answer in (
            await client.post("/embeddings", content=b"no json", headers=headers),
            await client.get("/models", headers=headers),
            await client.get("http://127.0.0.1/metrics", headers=headers),
        ):
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["type"].endswith("unauthorized")
            assert "VICW_EMBEDDING_API_KEY" in answer.json()["detail"]
            assert "sésame" not in answer.text


async def test_requests_with_the_api_key_are_answered(served: ServedModel) -> None:
    headers = {b"Authorization": "bearer sésame".encode()}
    async with open_client(served, "sésame\n") as client:
        assert (await client.post("/embeddings", json={"input": "time"}, headers=headers)).is_success
        assert (await client.get("/models", headers=headers)).is_success
        assert (await client.get("http://127.0.0.1/metrics", headers=headers)).is_success


async def test_probes_need_no_api_key_but_hide_failure_reasons_without_it(served: ServedModel) -> None:
    headers = {"Authorization": "Bearer sesame"}
    async with open_client(served, "sesame") as client:
        assert (await client.get("http://127.0.0.1/healthz")).is_success
        assert (await client.get("http://127.0.0.1/readyz")).is_success
        served.engine.close()
        told = [
            (await client.get("http://127.0.0.1/readyz", headers=h)).json()["failing"]["model"] for h in ({}, headers)
        ]
        assert told[0] == "does not work" != told[1]


async def test_authorization_headers_are_ignored_without_a_configured_key(client: httpx.AsyncClient) -> None:
    assert (await client.get("/models", headers={"Authorization": "Bearer of another server"})).is_success


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "embedding", ""])
def test_the_embedding_server_listens_beyond_loopback_only_with_an_api_key(host: str) -> None:
    with pytest.raises(SettingsError, match=r"VICW_EMBEDDING_API_KEY is not set.*VICW_EMBEDDING_API_KEY_FILE"):
        gate(None, KEY, host)
    assert gate(SecretStr("x"), KEY, host).required


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", None])
def test_loopback_needs_no_api_key_but_an_empty_one_is_refused(host: str | None) -> None:
    assert not gate(None, KEY, host).required
    with pytest.raises(SettingsError, match="VICW_EMBEDDING_API_KEY is empty"):
        gate(SecretStr(" \n"), KEY, host)


async def test_a_cancelled_call_leaves_the_queue(served: ServedModel) -> None:
    task = asyncio.create_task(served.batcher.embed(["river stone " * 60] * 2000, Lane.BULK))
    await asyncio.sleep(0.05)
    assert served.engine.waiting(Lane.BULK) == 2000
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert served.engine.waiting(Lane.BULK) == 0
    assert (await served.batcher.embed(["x"], Lane.BULK)).rows.shape == (1, 1024)


async def test_a_vector_size_that_the_model_does_not_allow_is_refused(engine: Engine, minilm: Engine) -> None:
    with pytest.raises(SettingsError, match="VICW_EMBEDDING_DIMENSIONS"):
        Batcher(minilm, 256)
    with pytest.raises(InvalidInputError, match="does not support fewer"):
        await Batcher(minilm).embed(["x"], Lane.QUERY, 256)
    small = Batcher(engine, 512)
    assert small.size == 512
    assert (await small.embed(["x"], Lane.QUERY)).rows.shape == (1, 512)
    assert (await small.embed([], Lane.QUERY)).rows.shape == (0, 512)


def test_wiring_loads_the_model_named_in_the_settings(tiny_encoder: ModelFile) -> None:
    settings = EmbeddingSettings(model=str(tiny_encoder.path), dimensions=None, threads=1)
    loaded = wiring.load(settings, tiny_encoder.path.parent)
    loaded.close()

    assert loaded.file.digest == tiny_encoder.digest
    with pytest.raises(SettingsError):
        wiring.load(settings.model_copy(update={"dimensions": 2048}), tiny_encoder.path.parent)
