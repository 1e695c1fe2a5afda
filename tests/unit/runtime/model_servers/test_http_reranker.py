"""The adapter of re-ranking servers: what it sends, what it takes for an answer, and what for none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from support.fakes.rerank_server import rerank_server, rows
from vicw_runtime.model_servers.http_reranker import HttpReranker, open_reranker
from vicw_shared.errors import OverloadedError, SettingsError, TooSlowError, UnavailableError
from vicw_shared.settings import RerankSettings

TEXTS = ["one", "two", "three"]


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., HttpReranker]]:
    opened: list[HttpReranker] = []

    def open_one(url: str, **fields: Any) -> HttpReranker:
        opened.append(HttpReranker(base_url=url, **fields))
        return opened[-1]

    yield open_one
    for one in opened:
        await one.close()


async def test_scores_come_back_in_the_order_of_the_texts(connect: Callable[..., HttpReranker]) -> None:
    async with rerank_server(lambda _: rows((2, 7.5), (0, -1), (1, -3.25))) as (url, asked):
        model = connect(url, model="m", api_key="secret")
        assert await model.rerank("q?", TEXTS) == [-1.0, -3.25, 7.5]
        assert await model.rerank("q?", []) == []
    assert asked == [("Bearer secret", {"query": "q?", "documents": TEXTS, "model": "m", "top_n": 3})]


@pytest.mark.parametrize(
    "nonsense",
    [
        {},
        [],
        rows((0, 1.0), (1, 2.0)),
        rows((0, 1.0), (1, 2.0), (1, 3.0)),
        rows((0, 1.0), (1, 2.0), (3, 3.0)),
        rows((0, 1.0), (1, 2.0), (-1, 3.0)),
        rows((0, 1.0), (1, 2.0), (2, None)),
        rows((0, 1.0), (1, 2.0), (2, "NaN")),
    ],
)
async def test_a_response_without_a_score_for_each_text_is_unavailable(
    connect: Callable[..., HttpReranker], nonsense: Any
) -> None:
    async with rerank_server(lambda _: nonsense) as (url, _):
        with pytest.raises(UnavailableError):
            await connect(url).rerank("q", TEXTS)


@pytest.mark.parametrize(
    ("status", "seconds", "error"),
    [(429, 0, OverloadedError), (503, 0, UnavailableError), (401, 0, SettingsError), (200, 5, TooSlowError)],
)
async def test_rerank_failures_map_to_vicw_errors_without_retry(
    connect: Callable[..., HttpReranker], status: int, seconds: float, error: type[Exception]
) -> None:
    async with rerank_server(lambda _: rows(), status, seconds) as (url, asked):
        with pytest.raises(error):
            await connect(url, timeout_seconds=0.3).rerank("q", TEXTS)
        assert len(asked) == 1, "what failed is not asked again: it costs a question its time"


async def test_a_rerank_model_without_a_url_is_a_settings_error() -> None:
    assert not RerankSettings().enabled
    with pytest.raises(SettingsError, match="Set VICW_RERANK_URL to a server"):
        open_reranker(RerankSettings(model="some.gguf"))
