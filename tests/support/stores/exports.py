"""Stores exported into folders and imported from them, by the same use cases as the commands."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from support.stores.pairs import Side
from vicw_core.archive import manifest as manifests
from vicw_core.archive.manifest import NAME, FileEntry, Manifest
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.writer import ArchiveWriter
from vicw_shared.extensions import Registries
from vicw_shared.model import CollectionRegistry, EdgeRegistry
from vicw_shared.ports import ModelIdentity, VectorStore
from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export
from vicw_sleep.archive.importer import ImportResult, ImportTarget, import_archive
from vicw_sleep.archive.validator import validate


def registries() -> Registries:
    return Registries(EdgeRegistry.with_core_types(), CollectionRegistry())


async def exported(side: Side, path: Path, wanted: ExportSelection | None = None, **pages: Any) -> Manifest:
    model = (await side.graph.record.models()).used
    source = ExportSource(graph=side.graph, vectors=side.vectors, model=model, **pages)
    with ArchiveWriter(path) as writer:
        return await export(source, writer, registries(), wanted or ExportSelection(), program="test")


async def imported(path: Path, side: Side, *, restoring: bool = False, batch: int = 1000) -> ImportResult:
    async def open_vectors(model: ModelIdentity) -> VectorStore | None:
        return side.vectors if (await side.graph.record.models()).used == model else None

    judged = validate(ArchiveReader(path), registries().edges)
    target = ImportTarget(graph=side.graph, open_vectors=open_vectors, batch=batch)
    return await import_archive(judged, target, restoring=restoring)


def assert_same_exports(one: Path, other: Path, *, error: float = 1e-6) -> None:
    """Assert that two exports are the same to the byte, but for their time, and for vectors that engines round."""
    names = {name: sorted(str(p.relative_to(name)) for p in name.rglob("*") if p.is_file()) for name in (one, other)}
    assert names[one] == names[other]
    for name in names[one]:
        if name.endswith(".npy"):
            assert np.allclose(np.load(one / name), np.load(other / name), rtol=0, atol=error), name
        elif name != NAME:
            assert (one / name).read_text("utf-8") == (other / name).read_text("utf-8"), name


def reseal(path: Path, **changes: Any) -> None:
    """Make the manifest agree with the files, as whoever makes an export by hand would."""
    said = manifests.load((path / NAME).read_text("utf-8"))
    files = {}
    for name, entry in said.files.items():
        if (path / name).exists():
            raw = (path / name).read_bytes()
            rows = raw.count(b"\n") if name.endswith(".jsonl") else entry.rows
            files[name] = FileEntry(len(raw), hashlib.sha256(raw).hexdigest(), rows)
    (path / NAME).write_text(replace(said, **({"files": files} | changes)).sealed().dump(), "utf-8")
