"""How scripts/call_recorder.py counts the walk of a request through the files."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = _ROOT / "scripts" / "call_recorder.py"


@pytest.fixture(scope="module")
def call_recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("call_recorder", _SCRIPT)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_repeated_calls_of_one_file_are_one_visit(call_recorder: ModuleType) -> None:
    walk = call_recorder.walk_of(["api", "search", "search", "store", "search", "api", "api"])
    assert walk.files == {"api": 3, "search": 3, "store": 1}
    assert (walk.hops, walk.returns) == (5, 2)


def test_a_walk_forward_has_no_returns(call_recorder: ModuleType) -> None:
    walk = call_recorder.walk_of(["api", "api", "search", "store"])
    assert (walk.hops, walk.returns) == (3, 0)
    assert call_recorder.walk_of([]).returns == 0


def test_only_product_files_count_and_the_plug_in_as_one(call_recorder: ModuleType) -> None:
    def counted(path: str) -> str | None:
        name: str | None = call_recorder.product_file(str(_ROOT / path))
        return name

    assert counted("shared/vicw_shared/clock.py") == "shared/vicw_shared/clock.py"
    assert counted("services/ingest/vicw_ingest/extraction/rules/extractor.py") == call_recorder.PLUGIN
    assert counted("services/english/vicw_english/tagger.py") == call_recorder.PLUGIN
    assert counted("shared/vicw_core/language/tagger.py") == call_recorder.PLUGIN
    assert counted("shared/vicw_shared/telemetry/spans.py") is None
    assert counted("tests/conftest.py") is None
    assert counted(".venv/lib/python3.12/site-packages/httpx/_api.py") is None


async def test_calls_count_from_the_call_of_the_handler_to_its_return(call_recorder: ModuleType) -> None:
    """Also those in threads and in tasks that the handler waits for, but not those of background tasks."""
    from vicw_shared.text import fold_case
    from vicw_shared.uids import is_uid

    turn = asyncio.Event()

    async def tick() -> None:
        while True:
            is_uid("")
            turn.set()
            await asyncio.sleep(0)

    async def handler() -> None:
        turn.clear()
        await asyncio.gather(asyncio.to_thread(fold_case, "A"), turn.wait())

    async def send() -> None:
        is_uid("")
        await handler()
        is_uid("")

    indexer = asyncio.create_task(asyncio.sleep(60), name=call_recorder.INDEXER)
    background = asyncio.create_task(tick(), name="expiry")
    try:
        walk = await call_recorder.record(handler.__code__, send())
    finally:
        indexer.cancel()
        background.cancel()
    assert walk.files == {"shared/vicw_shared/text.py": 1}


async def test_a_handler_that_is_not_called_is_an_error(call_recorder: ModuleType) -> None:
    indexer = asyncio.create_task(asyncio.sleep(60), name=call_recorder.INDEXER)
    try:
        with pytest.raises(RuntimeError, match="not called"):
            await call_recorder.record(call_recorder.main.__code__, asyncio.sleep(0))
    finally:
        indexer.cancel()
