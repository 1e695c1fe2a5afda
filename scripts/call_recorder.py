"""Record which product files a request enters: POST /ingest, POST /retrieve and `vicw forget item`.

Usage: python scripts/call_recorder.py [--list] [--json] [--everywhere] [--question TEXT] [ingest|retrieve|forget ...]

It starts the application of `vicw serve` in this process, with its embedding process, over embedded stores in a new
data directory, and stores forty items in four contexts. After one request of a kind to warm up it records
the next ones: a question to a context with five items; the ingest of two sentences, with ``wait``; an erasure.

How it counts:

* Every Python call (also the first step of a coroutine or generator, not its resumption) of a function in a file
  under ``shared``, ``services`` and ``client``, in all threads, between the call of the request's handler (the
  endpoint, or the function of the command) and its return. So work that the handler waits for counts wherever it
  runs, such as the indexer's; background tasks that only tick (the clock's jobs, the counters) do not.
* Modules of telemetry do not count. The modules of English extraction count as one file.
* A *file entered* has at least one such call. *Hops* are the calls into another file than the call before: of the
  sequence of files, consecutive repeats are one. A *return* is a hop into a file that was entered before. So
  hops = files + returns.

Calls of concurrent tasks and threads are one sequence, in the order of time, so returns vary by a few from run to
run: each request is recorded several times (``--repeats``), and the median of the returns is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("shared", "services", "client")
PLUGIN = "(English extraction)"
_PLUGIN_PLACES = (
    "/vicw_english/",
    "/vicw_ingest/extraction/rules/",
    *(f"/language/{name}.py" for name in ("analysis", "tagger", "hashing", "proper_nouns")),
)
INDEXER = "indexer"
"""Name of the one background task whose work a request waits for."""
REQUESTS = ("ingest", "retrieve", "forget")
QUESTION = "Why did the deploy fail?"
CONTEXT = "work"
"""Context of the recorded requests; it has five of the items."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The walk of a request through the files: how many were entered, and how often again."""

    files: dict[str, int]
    """Calls of each file, in the order of the first."""
    hops: int

    @property
    def returns(self) -> int:
        """The hops into a file that was entered before."""
        return self.hops - len(self.files)


def walk_of(sequence: Sequence[str]) -> Walk:
    """Count a sequence of calls, each given as the file that it enters.

    >>> walk = walk_of(["a", "a", "b", "a", "b", "b"])
    >>> (walk.files, walk.hops, walk.returns)
    ({'a': 3, 'b': 3}, 4, 2)
    """
    hops = sum(one != before for one, before in zip(sequence, [None, *sequence], strict=False))
    return Walk(dict(Counter(sequence)), hops)


def product_file(path: str, root: Path = ROOT) -> str | None:
    """Return the name under which a file counts: relative to ``root``, the plug-in's name, or None if it does not."""
    for package in PACKAGES:
        folder = f"{root / package}{os.sep}"
        if path.startswith(folder) and "/telemetry/" not in path and "/.venv/" not in path:
            return PLUGIN if any(place in path for place in _PLUGIN_PLACES) else str(Path(path).relative_to(root))
    return None


class CallRecorder:
    """Records the calls into product files from each call of a handler to its return, in all threads."""

    _TOOL = sys.monitoring.PROFILER_ID

    def __init__(self, handler: CodeType) -> None:
        self._handler = handler
        self._names: dict[CodeType, str | None] = {}
        self._is_recording = False
        self._background: frozenset[asyncio.Task[Any]] = frozenset()
        self._loop_thread = threading.get_ident()
        self.sequence: list[str] = []

    @contextmanager
    def __call__(self) -> Iterator[CallRecorder]:
        """Record inside the block. What other tasks than the indexer do that run already is background work."""
        events, monitoring = sys.monitoring.events, sys.monitoring
        self._loop_thread = threading.get_ident()
        self._background = frozenset(_background_tasks())
        monitoring.use_tool_id(self._TOOL, "call_recorder")
        monitoring.register_callback(self._TOOL, events.PY_START, self._start)
        monitoring.register_callback(self._TOOL, events.PY_RETURN, self._end)
        monitoring.register_callback(self._TOOL, events.PY_UNWIND, self._end)
        monitoring.set_events(self._TOOL, events.PY_START | events.PY_RETURN | events.PY_UNWIND)
        try:
            yield self
        finally:
            monitoring.set_events(self._TOOL, 0)
            monitoring.free_tool_id(self._TOOL)
            self._is_recording = False

    def _start(self, code: CodeType, _: int) -> None:
        if code is self._handler:
            self._is_recording = True
        if not self._is_recording:
            return
        if code not in self._names:
            is_module = code.co_name == "<module>"  # an import on first use is no call
            self._names[code] = None if is_module else product_file(code.co_filename)
        name = self._names[code]
        if name is not None and not self._is_background():
            self.sequence.append(name)

    def _end(self, code: CodeType, _: int, __: object) -> None:
        if code is self._handler:
            self._is_recording = False

    def _is_background(self) -> bool:
        if not self._background or threading.get_ident() != self._loop_thread:
            return False
        return asyncio.current_task() in self._background


def _background_tasks() -> set[asyncio.Task[Any]]:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no event loop runs yet: a command starts its own
        return set()
    if INDEXER not in {task.get_name() for task in tasks}:
        raise RuntimeError(f"no task is named {INDEXER}: what is it called now?")
    # Background tasks have names of their own; the indexer's workers have not.
    return {task for task in tasks if not task.get_name().startswith("Task-") and task.get_name() != INDEXER}


async def record(handler: CodeType, request: Awaitable[None]) -> Walk:
    """Return the walk of a request that ``handler`` serves."""
    recorder = CallRecorder(handler)
    with recorder():
        await request
    if not recorder.sequence:
        raise RuntimeError("the handler was not called")
    return walk_of(recorder.sequence)


def items() -> dict[str, list[dict[str, Any]]]:
    """Return the items to store, by context: talks with speakers, times and causes, pages with titles, code."""
    turns = (
        "Ana changed the parser on Friday.",
        "The deploy failed because the parser dropped a comma.",
        "Ben rolled the release back to version 4.2.",
        "Our nightly import stopped, so the report was empty.",
        "Chloe will write a test for the parser.",
        "Chloe moved from Porto to Lisbon last spring.",
        "She works for a bank there and misses the river.",
        "Dev prefers Postgres since a migration lost rows.",
        "The printer on the second floor is out of toner.",
        "Maya booked the small room for Thursday at ten.",
        "Lunch is at the Thai place near the station.",
        "My sister adopted a grey cat called Moth.",
        "The train to Utrecht was forty minutes late.",
        "Oscar plays the cello in a quartet.",
        "The invoice of March was paid twice.",
        "Heavy rain flooded the cellar, so the server was moved upstairs.",
        "Greta is learning to fly gliders.",
        "The heating will be replaced in November.",
        "Ilias wrote the chapter on tides.",
        "A wasp nest was found under the roof.",
    )
    talk = [
        {
            "id": f"turn-{turn}",
            "text": text,
            "speaker": ("Ana", "Ben", "Chloe", "Dev")[turn % 4],
            "timestamp": f"2026-03-{turn + 1:02}T09:30:00Z",
            "flow_id": f"flow-{turn // 5}",
        }
        for turn, text in enumerate(turns)
    ]
    pages = {
        "Tide table": "High water follows the moon by some hours, and each harbour has its own delay.",
        "Parser": "The parser reads lines of the feed and splits them at commas. Ana Costa looks after it.",
        "Ana Costa": "Engineer of the data team since 2021. She studied in Ghent.",
        "Ghent": "A city in Flanders, where the Lys meets the Scheldt.",
        "Release 4.2": "The release of February. It has the old reader and no retries.",
        "Moth": "A nocturnal insect with feathered antennae.",
        "Lisbon": "The capital of Portugal, on the Tagus.",
        "Glider": "An aircraft without an engine that climbs in rising air.",
        "Toner": "Order number 88-12, kept in the cupboard of the second floor.",
        "Quartet": "Two violins, a viola and a cello.",
    }
    reference = [
        {"id": f"page-{place}", "text": text, "name": title, "subtype": "document", "tags": ["reference"]}
        for place, (title, text) in enumerate(pages.items())
    ]
    functions = (
        "split_line",
        "read_feed",
        "paid_twice",
        "delay_of",
        "retry",
        "mean",
        "slug",
        "is_leap",
        "area",
        "flat",
    )
    code = [
        {
            "id": f"code-{place}",
            "text": f"def {name}(value):\n    result = convert(value, {place})\n    return result",
            "name": name,
            "subtype": "function",
        }
        for place, name in enumerate(functions)
    ]
    return {CONTEXT: talk[:5], "talk": talk[5:], "reference": reference, "code": code}


async def record_server(
    kinds: Sequence[str], data_dir: Path, *, question: str, everywhere: bool, repeats: int
) -> dict[str, list[Walk]]:
    """Return the walks of each kind of request to the server. Also without kinds it leaves a filled data directory."""
    import httpx

    from vicw_standalone.app import create_standalone_app
    from vicw_standalone.lifecycle.start import Start
    from vicw_standalone.settings import StandaloneSettings
    from vicw_standalone.wiring import Standalone

    os.environ["VICW_DATA_DIR"] = str(data_dir)
    standalone = Standalone(StandaloneSettings.read())
    start = Start(standalone)
    await start.open()
    await start.load("http://127.0.0.1")
    app = create_standalone_app(standalone)
    transport = httpx.ASGITransport(app)
    walks: dict[str, list[Walk]] = {}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=300) as client,
    ):

        async def post(path: str, body: dict[str, Any]) -> None:
            response = await client.post(path, json=body)
            if response.status_code not in {200, 201}:
                raise RuntimeError(f"{path}: {response.status_code} {response.text}")

        async def ingest(number: int) -> None:
            text = f"Ana moved the parser to shard {number}. The import was faster because of that."
            item = {"id": f"new-{number}", "text": text, "speaker": "Ana", "timestamp": "2026-04-01T10:00:00Z"}
            await post("/ingest", {"context": CONTEXT, "wait": True, "items": [item]})

        async def retrieve(_: int) -> None:
            await post("/retrieve", {"query": question, "context": None if everywhere else CONTEXT})

        for context, stored in items().items():
            await post("/ingest", {"context": context, "wait": True, "items": stored})
        sends: dict[str, Callable[[int], Awaitable[None]]] = {"ingest": ingest, "retrieve": retrieve}
        for kind in sorted(kinds, reverse=True):  # a question is asked before there is more to find
            send = sends[kind]
            await send(0)
            handler = _endpoint(app.routes, f"/{kind}").__code__
            walks[kind] = [await record(handler, send(number)) for number in range(1, repeats + 1)]
    return walks


def _endpoint(routes: Iterable[Any], path: str) -> Any:
    """Return the function that serves POST of a path, also from an included router."""
    for route in routes:
        if getattr(route, "path", None) == path and "POST" in route.methods:
            return route.endpoint
        included = getattr(route, "original_router", None)
        if included is not None and (found := _endpoint(included.routes, path)) is not None:
            return found
    return None


def record_forget(data_dir: Path, repeats: int) -> list[Walk]:
    """Return the walks of `vicw forget item` on a directory that no server has open."""
    import typer

    from vicw_standalone.cli import app

    os.environ["VICW_DATA_DIR"] = str(data_dir)
    command: Any = typer.main.get_command(app)
    handler = command.commands["forget"].commands["item"].callback
    while hasattr(handler, "__wrapped__"):
        handler = handler.__wrapped__
    walks = []
    for number in range(repeats):
        recorder = CallRecorder(handler.__code__)
        with recorder(), Path(os.devnull).open("w") as sink, _output_to(sink.fileno()):
            command(["forget", "item", f"turn-{number}", "--yes"], standalone_mode=False)
        walks.append(walk_of(recorder.sequence))
    return walks


@contextmanager
def _output_to(file: int) -> Iterator[None]:
    """Send what the block prints to a file."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(file, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _print(kind: str, walks: Sequence[Walk], *, is_listed: bool) -> None:
    files: Counter[str] = Counter()
    for walk in walks:
        files.update(walk.files)
    counts = sorted(len(walk.files) for walk in walks)
    returns = statistics.median_low([walk.returns for walk in walks])
    hops = statistics.median_low([walk.hops for walk in walks])
    span = f" ({counts[0]} to {counts[-1]})" if counts[0] != counts[-1] else ""
    print(f"{kind:9} files entered {counts[-1]:4}{span}   hops {hops:5}   returns to a file already left {returns:5}")
    if is_listed:
        for name, count in files.most_common():
            print(f"    {round(count / len(walks)):6}  {name}")


def main() -> None:
    """Record and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requests", nargs="*", choices=[[], *REQUESTS], metavar="ingest|retrieve|forget")
    parser.add_argument("--list", action="store_true", help="also print each file with its calls")
    parser.add_argument("--json", action="store_true", help="print the walks as JSON instead")
    parser.add_argument("--question", default=QUESTION, help=f"what is retrieved (default: {QUESTION})")
    parser.add_argument("--everywhere", action="store_true", help="search all contexts, not the one with five items")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is recorded (default: 3)")
    options = parser.parse_args()
    from vicw_runtime.logs import configure_logs
    from vicw_shared.settings import LogSettings

    kinds = options.requests or REQUESTS
    configure_logs(LogSettings(level="warning"))
    with tempfile.TemporaryDirectory(prefix="vicw-recorder-") as folder:
        data_dir = Path(folder) / "data"
        served = [kind for kind in kinds if kind != "forget"]
        asked = {"question": options.question, "everywhere": options.everywhere, "repeats": options.repeats}
        walks = asyncio.run(record_server(served, data_dir, **asked))
        if "forget" in kinds:
            walks["forget"] = record_forget(data_dir, options.repeats)
    if options.json:
        print(json.dumps({kind: [walk.files for walk in found] for kind, found in walks.items()}, indent=1))
        return
    for kind, found in walks.items():
        _print(kind, found, is_listed=options.list)


if __name__ == "__main__":
    main()
