"""An export that is not what was exported is refused, with the file, the line and the field, and nothing is stored.

One whose records are sound, and what they are together is not, is refused by the check, and stays incomplete.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.sleep.test_consolidation import tell, turn
from support.stores.exports import exported, imported, registries, reseal
from support.stores.pairs import START, embedded
from vicw_core.archive import manifest as manifests
from vicw_core.archive.manifest import NAME, RECORDS
from vicw_core.archive.reader import ArchiveReader
from vicw_shared.errors import InvalidInputError, StateConflictError
from vicw_shared.model import Label, NodeCollection
from vicw_sleep.archive.validator import validate


@pytest.fixture(scope="module")
def valid_export(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    room = tmp_path_factory.mktemp("sound")

    async def fill() -> None:
        async with embedded(room) as side:
            await tell(side, [turn(n, f"Ana met Ben in Porto, said {n}.", tags=["trip"]) for n in range(6)])
            await side.ingest({"context": "c", "wait": False, "items": [{"text": "x"}]}, "t", "a key")
            await side.indexer.drain()
            await side.graph.uses.add_uses("t", dict.fromkeys(await side.nodes(), 1), START)
            await exported(side, room / "export")

    asyncio.run(fill())
    yield room / "export"
    shutil.rmtree(room)


@pytest.fixture
def export(valid_export: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(valid_export, tmp_path / "export"))


def validate_export(path: Path) -> None:
    validate(ArchiveReader(path), registries().edges)


def refusal_of(path: Path) -> str:
    """Return with which words an export is refused; an import stores nothing of it."""
    with pytest.raises(InvalidInputError) as caught:
        validate_export(path)

    async def bring() -> None:
        async with embedded(path.parent) as side:
            with pytest.raises(InvalidInputError):
                await imported(path, side)
            assert (await side.nodes(), await side.graph.archive.import_mark()) == ({}, None)

    asyncio.run(bring())
    return str(caught.value)


def rewrite(path: Path, name: str, line: int, change: Callable[[dict[str, Any]], object]) -> None:
    lines = (path / name).read_text("utf-8").splitlines()
    row = json.loads(lines[line - 1])
    change(row)
    lines[line - 1] = json.dumps(row)
    (path / name).write_text("\n".join(lines) + "\n", "utf-8")
    reseal(path)


def names(path: Path) -> list[str]:
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


def test_an_unchanged_export_passes_validation(export: Path) -> None:
    validate_export(export)
    reseal(export)
    validate_export(export)


def test_an_export_without_a_uses_file_passes_validation(export: Path) -> None:
    (export / "uses.jsonl").unlink()
    reseal(export)
    validate_export(export)


def test_a_flipped_byte_is_found_in_every_file(export: Path) -> None:
    draw = random.Random(1)
    assert {"manifest.json", "edges.jsonl", "chunks.jsonl", "embeddings/chunks.npy"} <= {*names(export)}
    for name in names(export):
        before = (export / name).read_bytes()
        for _ in range(20):
            spoilt = bytearray(before)
            spoilt[draw.randrange(len(spoilt))] ^= 1 << draw.randrange(8)
            (export / name).write_bytes(spoilt)
            with pytest.raises(InvalidInputError, match=name if name != NAME else "manifest|import"):
                validate_export(export)
        (export / name).write_bytes(before)
    validate_export(export)


def test_an_export_with_a_flipped_byte_imports_nothing(export: Path) -> None:
    raw = bytearray((export / "events.jsonl").read_bytes())
    raw[100] ^= 1
    (export / "events.jsonl").write_bytes(raw)
    assert "events.jsonl: was changed after the export" in refusal_of(export)


def test_missing_and_truncated_export_files_are_named(export: Path) -> None:
    for name in names(export):
        before = (export / name).read_bytes()
        (export / name).write_bytes(before[:-1])
        with pytest.raises(InvalidInputError, match=name):
            validate_export(export)
        (export / name).unlink()
        with pytest.raises(InvalidInputError, match=f"{name}: is missing"):
            validate_export(export)
        (export / name).write_bytes(before)


def test_a_symbolic_link_in_an_export_is_refused(export: Path, tmp_path: Path) -> None:
    shutil.move(export / "edges.jsonl", tmp_path / "elsewhere")
    (export / "edges.jsonl").symlink_to(tmp_path / "elsewhere")
    assert "edges.jsonl: is a link" in refusal_of(export)


@pytest.mark.parametrize(
    "name", ["../evil.jsonl", "/etc/passwd", "embeddings/../../x.npy", "a/b.jsonl", ".lock", "A.jsonl"]
)
def test_an_invalid_file_name_in_a_manifest_is_refused(export: Path, name: str) -> None:
    said = manifests.load((export / NAME).read_text("utf-8"))
    reseal(export, files=dict(said.files) | {name: said.files["edges.jsonl"]})
    assert "is not a valid file name of an export" in refusal_of(export)


def test_an_export_of_another_version_or_format_is_refused(export: Path) -> None:
    reseal(export, version=2)
    assert "version 2 is not 1" in refusal_of(export)
    reseal_to = json.loads((export / NAME).read_text("utf-8")) | {"format": "other"}
    (export / NAME).write_text(json.dumps(reseal_to), "utf-8")
    assert "not of an export" in refusal_of(export)


NOBODY = "00000000-0000-5000-8000-000000000000"


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("edges.jsonl", lambda r: r.update(target=NOBODY), "edges.jsonl, line 2: target: the export has no node"),
        ("edges.jsonl", lambda r: r.update(source=NOBODY), "edges.jsonl, line 2: source: the export has no node"),
        ("edges.jsonl", lambda r: r.update(type="HATES"), "line 2: type: edge type 'HATES' is not registered"),
        ("edges.jsonl", lambda r: r.update(type="IS_PERSON"), "line 2: type: IS_PERSON may not join"),
        ("edges.jsonl", lambda r: r.update(weight=2), "line 2: weight: 2.0 is outside"),
        ("events.jsonl", lambda r: r.update(context="other"), "line 2: context: 'other' of tenant 't' is not"),
        ("events.jsonl", lambda r: r.update(tenant="other"), "line 2: context: 'c' of tenant 'other' is not"),
        ("events.jsonl", lambda r: r.update(label="Chunk"), "line 2: label: Chunk"),
        ("events.jsonl", lambda r: r.update(uid="x"), "line 2: uid: 'x' is not a UUID"),
        ("events.jsonl", lambda r: r.update(colour="red"), "line 2: 'colour' is not a known field"),
        ("events.jsonl", lambda r: r.update(version="1"), "line 2: version: Input should be a valid integer"),
        ("events.jsonl", lambda r: r.update(arrival=2**63), "line 2: arrival: 9223372036854775808 has more"),
        ("events.jsonl", lambda r: r.update(created_at="2026-01-01T00:00:00"), "line 2: created_at: is without a time"),
        ("events.jsonl", lambda r: r.update(retired_at="0001-01-01T00:00:00+23:00"), "line 2: retired_at: 0001-01-01T"),
        ("events.jsonl", lambda r: r.pop("created_at"), "line 2: created_at: Field required"),
        ("counters.jsonl", lambda r: r.update(context="other"), "line 2: context: 'other' is not in the export"),
        ("uses.jsonl", lambda r: r.update(context="other"), "line 2: context: 'other' is not in the export"),
        ("uses.jsonl", lambda r: r.update(item=NOBODY), "line 2: item: the context has no node"),
        ("uses.jsonl", lambda r: r.update(item="x"), "line 2: item: 'x' is not a UUID"),
        ("uses.jsonl", lambda r: r.update(times=0), "line 2: times: 0 is less than 1"),
        ("uses.jsonl", lambda r: r.update(times=2**63), "line 2: times: 9223372036854775808 has more"),
        (
            "uses.jsonl",
            lambda r: r.update(last="9999-12-31T23:00:00-23:00"),
            "line 2: last: 9999-12-31T23:00:00-23:00 is",
        ),
        ("uses.jsonl", lambda r: r.update(last="2026-01-01T00:00:00"), "line 2: last: is without a time zone"),
    ],
)
def test_an_invalid_record_is_refused_with_its_line_and_field(
    export: Path, name: str, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    rewrite(export, name, 2, change)
    assert told in refusal_of(export)


@pytest.mark.parametrize("file", RECORDS)
def test_a_collection_named_like_another_export_file_is_refused(export: Path, file: str) -> None:
    said = manifests.load((export / NAME).read_text("utf-8"))
    added = NodeCollection(file.removesuffix(".jsonl"), Label.ENTITY, "door")
    reseal(export, collections=(*said.collections, added))
    assert f"manifest.json: collections: {file} is a file of another kind" in refusal_of(export)


def rows_of(path: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / name).read_text("utf-8").splitlines()]


def append(path: Path, name: str, row: dict[str, Any]) -> int:
    """Add a line to a file; return its number."""
    lines = (path / name).read_text("utf-8").splitlines()
    (path / name).write_text("\n".join([*lines, json.dumps(row)]) + "\n", "utf-8")
    reseal(path)
    return len(lines) + 1


def flow_item_uids(path: Path) -> list[str]:
    """Return the uids of a flow's items, in its order."""
    onward = {row["source"]: row["target"] for row in rows_of(path, "edges.jsonl") if row["type"] == "NEXT"}
    (found,) = onward.keys() - set(onward.values())
    chain = [found]
    while chain[-1] in onward:
        chain.append(onward[chain[-1]])
    return chain


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    ("name", "told"), [("edges.jsonl", "properties"), ("events.jsonl", "metadata"), ("receipts.jsonl", "body")]
)
def test_a_non_finite_number_is_refused_with_its_line(export: Path, name: str, told: str, number: str) -> None:
    first, *others = (export / name).read_text("utf-8").splitlines()
    row = json.loads(first)
    row[told] = {"a": ["HERE"]}
    (export / name).write_text("\n".join([json.dumps(row).replace('"HERE"', number), *others]) + "\n", "utf-8")
    reseal(export)
    assert f"{name}, line 1: the line: {number} is not a finite number" in refusal_of(export)


def test_invalid_vectors_of_an_export_are_refused(export: Path) -> None:
    vectors = np.load(export / "embeddings/chunks.npy")
    for spoilt, told in ((vectors * 2, "row 0 is not a unit vector"), (vectors[:-1], "which does not match the ids")):
        np.save(export / "embeddings/chunks.npy", spoilt)
        reseal(export)
        assert told in refusal_of(export)
    np.save(export / "embeddings/chunks.npy", np.array([{}], dtype=object), allow_pickle=True)
    reseal(export)
    assert "is not an array" in refusal_of(export)


def test_an_unregistered_extension_type_asks_for_its_extension(export: Path) -> None:
    said = manifests.load((export / NAME).read_text("utf-8"))
    reseal(export, edge_types=(*said.edge_types, manifests.DeclaredType(name="TODO_OWNED_BY")))
    assert "TODO_OWNED_BY is not registered here. Install the extension" in refusal_of(export)


def keep(path: Path, name: str, kept: Callable[[dict[str, Any]], bool]) -> None:
    rows = [row for row in rows_of(path, name) if kept(row)]
    (path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    reseal(path)


def line_of(path: Path, uid: str) -> int:
    return next(line for line, row in enumerate(rows_of(path, "events.jsonl"), 1) if row["uid"] == uid)


def test_invalid_vacated_step_ranges_are_refused(export: Path) -> None:
    for runs in ([[1, 10**12]], [[2, 1]], [[0, 1]], [["1", 2]], [3]):
        change = partial(dict[str, Any].update, metadata={"vacated": {NOBODY: runs}})
        rewrite(export, "contexts.jsonl", 1, change)
        assert "contexts.jsonl, line 1: metadata: its steps are not ranges" in refusal_of(export)


def add_stray_edge(export: Path, chain: str) -> str:
    items = flow_item_uids(export)
    known = next(row for row in rows_of(export, "edges.jsonl") if row["type"] == chain)
    append(export, "edges.jsonl", known | {"id": NOBODY, "source": items[0], "target": items[2]})
    return f"{chain} chain has a stray edge between"


def remove_chain(export: Path, chain: str) -> str:
    keep(export, "edges.jsonl", lambda row: row["type"] != chain)
    return f"{chain} chain is broken: nothing joins"


def make_step_gap(export: Path) -> str:
    rewrite(export, "events.jsonl", line_of(export, flow_item_uids(export)[-1]), lambda row: row.update(flow_step=9))
    return "steps are not gap-free from 1: there is 9, but not 8"


def remove_step(export: Path) -> str:
    rewrite(export, "events.jsonl", line_of(export, flow_item_uids(export)[-1]), lambda row: row.pop("flow_step"))
    return "has a flow, but no step in it"


def remove_membership(export: Path) -> str:
    uid = next(row["source"] for row in rows_of(export, "edges.jsonl") if row["type"] == "BELONGS_TO")
    keep(export, "edges.jsonl", lambda row: row["type"] != "BELONGS_TO" or row["source"] != uid)
    return f"Node {uid} belongs to 0 contexts instead of one"


def add_merge_cycle(export: Path) -> str:
    one, other = [row["uid"] for row in rows_of(export, "people.jsonl")][:2]
    known = rows_of(export, "edges.jsonl")[0]
    for number, (source, target) in enumerate(((one, other), (other, one))):
        ends = {"id": NOBODY[:-1] + str(number), "type": "MERGED_INTO", "source": source, "target": target}
        append(export, "edges.jsonl", known | ends)
    return "is merged in a circle"


@pytest.mark.parametrize(
    "spoil",
    [
        *(partial(how, chain=chain) for how in (add_stray_edge, remove_chain) for chain in ("NEXT", "HAPPENED_AFTER")),
        *(make_step_gap, remove_step, remove_membership, add_merge_cycle),
    ],
)
async def test_an_import_with_check_violations_stays_incomplete(export: Path, spoil: Callable[[Path], str]) -> None:
    told = spoil(export)
    validate_export(export)
    async with embedded(export.parent) as side:
        for _ in range(2):  # run again, it is no more complete
            assert any(told in violation for violation in (await imported(export, side)).violations)
            with pytest.raises(StateConflictError, match="broke off"):
                await exported(side, export.parent / "again")
        assert not (await imported(export, side, restoring=True)).violations, "a backup comes back as it was"
        assert await side.graph.archive.import_mark() is None
        assert any(told in violation for violation in (await side.check()).violations)


async def test_a_store_with_violations_refuses_another_import(export: Path) -> None:
    async with embedded(export.parent) as side, embedded(export.parent) as other:
        await other.ingest({"context": "e", "items": [turn(1, "Of u.")]}, "u", None)
        await other.indexer.drain()
        await exported(other, export.parent / "other")
        remove_membership(export)
        await imported(export, side, restoring=True)
        before = await side.nodes()
        with pytest.raises(StateConflictError, match="has violations"):
            await imported(export.parent / "other", side)
        assert (await side.nodes(), await side.graph.archive.import_mark()) == (before, None)
