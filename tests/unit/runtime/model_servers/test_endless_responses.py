"""An answer without end, over a real server: it is read as far as an answer may be long, and given up."""

from __future__ import annotations

import zlib

import pytest

from support.fakes.endless_server import serve_endlessly
from vicw_runtime.model_servers.http_reranker import HttpReranker
from vicw_runtime.model_servers.openai_connection import MAX_BYTES
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_shared.errors import BrokenError, OverloadedError, SettingsError, UnavailableError, VicwError
from vicw_shared.ports import Lane, ModelIdentity, Prompt, Role

_UNREAD = 2**24
"""What may lie in the buffers of sockets."""


pytestmark = pytest.mark.usefixtures("way")


async def complete(url: str) -> None:
    model = OpenAILanguageModel(base_url=url, model="m", retry_seconds=0.0)
    try:
        await model.complete([Prompt(Role.USER, "A text.")], {"type": "object"}, max_tokens=50)
    finally:
        await model.close()


async def test_an_endless_llm_response_is_given_up_and_not_retried() -> None:
    async with serve_endlessly() as server:
        with pytest.raises(BrokenError, match=f"longer than {MAX_BYTES} bytes. Look at VICW_LLM_URL"):
            await complete(server.url)
    assert server.asked == 1
    assert server.sent < MAX_BYTES + _UNREAD


async def test_compressed_responses_are_refused_or_limited_by_their_decompressed_size(way: str) -> None:
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b"x" * 2**26) + packer.flush(zlib.Z_SYNC_FLUSH)
    async with serve_endlessly(start, encoding="gzip", part=b"") as server:
        unasked = "encoding gzip, which was not asked for"
        expected = (UnavailableError, unasked) if way == "local" else (BrokenError, "longer than")
        with pytest.raises(expected[0], match=expected[1]):
            await complete(server.url)


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, SettingsError), (429, OverloadedError), (500, BrokenError), (503, UnavailableError)],
)
async def test_an_endless_error_response_is_reported_by_its_first_words(status: int, error: type[VicwError]) -> None:
    async with serve_endlessly(b"Not now. ", status=status) as server:
        with pytest.raises(error) as raised:
            await complete(server.url)
    assert error is OverloadedError or "Not now. xxx" in raised.value.detail
    assert len(raised.value.detail) < 500
    assert server.sent < _UNREAD


async def test_an_endless_rerank_response_is_given_up() -> None:
    async with serve_endlessly() as server:
        model = HttpReranker(base_url=server.url)
        with pytest.raises(BrokenError, match="longer than"):
            await model.rerank("q?", ["one"])
        await model.close()
    assert server.sent < MAX_BYTES + _UNREAD


@pytest.mark.parametrize(("size", "most"), [(None, 2**26), (384, 2**23)])
async def test_an_endless_embedding_response_is_limited_by_texts_and_size(size: int | None, most: int) -> None:
    expected = ModelIdentity("m", size, "d", 1) if size is not None else None
    async with serve_endlessly() as server:
        client = OpenAIEmbedder(base_url=server.url, model="m", expected=expected, retry_seconds=0.0)
        with pytest.raises(BrokenError, match="longer than"):
            await client.embed(["x"] * 64, Lane.BULK)
        with pytest.raises(BrokenError, match=f"longer than {MAX_BYTES} bytes"):
            await client.listed()
        await client.close()
    assert server.sent < most + MAX_BYTES + 2 * _UNREAD
