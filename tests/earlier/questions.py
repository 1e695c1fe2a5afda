"""Asks a store the questions of the story, counts what it holds, and compares both with what was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from earlier.story import GUEST, QUESTIONS
from support.fakes.hash_embedder import HashEmbedder
from support.stores.graph_records import Graph
from support.stores.memory import PATIENT_MS, TYPED_EDGES, settings_for
from vicw_core.index.conversion import WordConversion
from vicw_ingest.response.job_status import job_status
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_runtime.operations import Opening, Report
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import Edges, Nodes, Steps, VectorStore
from vicw_shared.settings import IngestSettings, RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_sleep.archive.api import IMPORT, ImportRequest
from vicw_sleep.check.service import check
from vicw_standalone.stores.memory import OpenStores
from vicw_standalone.stores.opening import open_stores
from vicw_standalone.wiring import Standalone

RENAMED_FIELDS: dict[str, str | None] = {
    "evidence": "domain_source",
    "folded_into": "consolidated_into",
    "told_by": "source_item",
    "form": None,
    "task": None,  # it was told by example phrases, too
    "task_confidence": None,
    "relevance": None,  # fitted anew from version to version
}
"""What a field of an answer, or a name that is stored, was called when a fixture was made, and what it is called now;
None: it is no more, or told in another way. A rename takes one line here.
"""
ERROR = 1e-4
"""How far apart two scores may be that are the same, of the index that was frozen with them."""
RESTORED_ERROR = 2e-3
"""… and of one that was filled anew: what is as near as the last that counts is another one each time."""
RESTORED_LACKS = frozenset({"channels"})
"""Fields of an answer that are then another each time."""
PATIENT = RetrievalSettings(
    channel_ms=PATIENT_MS,
    graph_ms=PATIENT_MS,
    spread_ms=PATIENT_MS,
    graph_weight=TYPED_EDGES,
    coverage=0.2,
)
"""Time limits that no slow machine reaches, and the coverage with which the answers were recorded."""
_TENANT = "default"
_ALL = 100_000
_RESULTS = 5
"""Of an answer, unless a question says how many."""


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Standalone]:
    """Open a data directory as ``vicw serve`` does, its words converted. Nothing works on it in the background.

    It keeps old receipts.
    """
    async with unconverted(path) as standalone:
        indexes = standalone.indexes
        await WordConversion(standalone.graph, indexes.open_vectors, indexes.refresh).run()
        yield standalone


@asynccontextmanager
async def unconverted(path: Path) -> AsyncIterator[Standalone]:
    """Open a data directory with the words that it has."""
    settings = replace(settings_for(path), ingest=IngestSettings(receipt_hours=_ALL))
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    try:
        yield standalone
    finally:
        await standalone.close()


async def restore(export: Path, path: Path) -> None:
    """Bring an export into a new data directory, as ``vicw restore`` does."""
    async with open_stores(settings_for(path), Opening.NEW) as stores:
        assert isinstance(stores, OpenStores)
        await IMPORT.run(stores, ImportRequest(path=str(export), keys=True, restoring=True), Report())


async def look_at(path: Path) -> dict[str, Any]:
    """Return what the store of a data directory answers and holds."""
    async with opened(path) as standalone:
        answers = await answers_of(standalone.retrieval_ports())
        return {"holds": await holdings_of(standalone.graph, standalone.vectors), "answers": answers}


async def answers_of(ports: RetrievalPorts) -> dict[str, dict[str, Any]]:
    """Ask every question; return each answer, its graph summed up and without how long it took."""
    ports = replace(ports, uses=None, settings=PATIENT)
    found = {}
    for name, question in QUESTIONS.items():
        answer = await retrieve(RetrieveRequest.model_validate({"limit": _RESULTS} | question), _TENANT, ports)
        told = answer.model_dump(mode="json", exclude={"took_ms", "explain"})
        found[name] = told | {"graph": _summed_up(told["graph"])}
    return found


def _summed_up(graph: Mapping[str, Any]) -> dict[str, Any]:
    chains = [
        {"direction": one["direction"], "complete": one["complete"], "quotes": [step["quote"] for step in one["steps"]]}
        for one in graph["chains"]
    ]
    kinds = Counter(node["label"] for node in graph["nodes"])
    types = Counter(edge["type"] for edge in graph["edges"])
    return {"nodes": _sorted(kinds), "edges": _sorted(types), "paths": len(graph["paths"]), "chains": chains}


async def holdings_of(graph: Graph, vectors: VectorStore) -> dict[str, Any]:
    """Return what a check says, and how much there is of what."""
    report = await check(graph.audit, graph.outbox, vectors, EdgeRegistry.with_core_types())
    nodes = [node for label in Label for node in await graph.scan(Nodes(label), limit=_ALL)]
    edges = [edge for edge, _, _ in await graph.scan(Edges(), limit=_ALL)]
    steps = await graph.scan(Steps(), limit=_ALL)
    backlog = await graph.pending_extractions.backlog()
    uses = await graph.uses.uses(_TENANT, [node.uid for node in nodes])
    jobs: Counter[str] = Counter()
    async with graph.archive.snapshot() as snapshot:
        for tenant in (_TENANT, GUEST):
            for receipt in await snapshot.receipts(tenant, after=None, limit=_ALL):
                kind, _, job = receipt.key.partition(":")
                if kind == "job":
                    status = await job_status(job, tenant, graph, graph.record, graph.outbox, graph.pending_extractions)
                    jobs[f"{tenant} {status.status}"] += 1
                else:
                    jobs[f"{tenant} {receipt.key}"] += 1
    return {
        "violations": report.violations,
        "waiting": report.waiting,
        "points": report.points,
        "nodes": _sorted(Counter(_kind(node) for node in nodes)),
        "edges": _sorted(Counter(edge.type for edge in edges)),
        "makers": _sorted(Counter(edge.created_by for edge in edges)),
        "told of nodes": _sorted(Counter(name for node in nodes for name in _told_of(node))),
        "told of edges": _sorted(Counter(name for edge in edges for name in edge.properties)),
        "steps": _sorted(Counter(f"{step.task} {step.outcome.value}" for step in steps)),
        "told of steps": _sorted(Counter(f"{step.task} {name}" for step in steps for name in step.details)),
        "unread": [backlog.waiting, backlog.failing, backlog.dead],
        "shown": sorted(use.times for use in uses.values()),
        "receipts": _sorted(jobs),
    }


def _kind(node: Node) -> str:
    kind = "statement" if node.is_statement else "macro" if node.is_macro else "echo" if node.is_duplicate else ""
    return " ".join(filter(None, (node.label.value, kind, "retired" if node.retired_at is not None else "")))


def _told_of(node: Node) -> Iterator[str]:
    """Yield which fields of a node have a value, and what its metadata calls what it keeps."""
    yield from (name for name in node.__slots__ if name != "metadata" and getattr(node, name) not in (None, (), False))
    yield from (f"metadata {name}" for name in node.metadata)


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in sorted(counts)}


def differences(
    recorded: Mapping[str, Any], found: Mapping[str, Any], *, restored: bool = False
) -> dict[str, list[str]]:
    """Return, by question, in what an answer is not the recorded one; of what has come to it since nothing is said.

    ``restored``: the index was filled anew.
    """
    differ = partial(_differ, error=RESTORED_ERROR, lacks=RESTORED_LACKS) if restored else _differ
    told = {name: list(differ(_renamed(recorded[name]), found.get(name), "")) for name in recorded}
    return {name: lines for name, lines in told.items() if lines}


def _renamed(value: Any) -> Any:
    """Return a recorded value with the names that its fields, and what they are counted by, have now."""
    if isinstance(value, Mapping):
        names = {name: RENAMED_FIELDS.get(name, name) for name in value}
        return {now: _renamed(value[name]) for name, now in names.items() if now is not None}
    return [_renamed(one) for one in value] if isinstance(value, list) else value


def _differ(recorded: Any, found: Any, where: str, error: float = ERROR, lacks: Collection[str] = ()) -> Iterator[str]:
    if isinstance(recorded, Mapping) and isinstance(found, Mapping):
        for name in recorded.keys() - lacks:
            yield from _differ(recorded[name], found.get(name, "(nothing)"), f"{where}.{name}", error, lacks)
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for number, (one, other) in enumerate(zip(recorded, found, strict=True)):
            yield from _differ(one, other, f"{where}[{number}]", error, lacks)
    elif isinstance(recorded, float) and isinstance(found, float):
        if abs(recorded - found) > error:
            yield f"{where}: was {recorded:.4f}, is {found:.4f}"
    elif recorded != found:
        yield f"{where}: was {_shown(recorded)}, is {_shown(found)}"


def _shown(value: Any) -> str:
    """Return a value in one line: of results no more than their ids."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return str([one.get("id") or one.get("uid") or one.get("channel") for one in value])
    return repr(value)
