"""Manifest of an export: its scope, and the size and checksum of each file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vicw_core.archive import refusal
from vicw_shared.model import EdgeType, NodeCollection
from vicw_shared.ports import ModelIdentity

NAME = "manifest.json"
FORMAT = "vicw-export"
VERSION = 1
"""Version of the layout and of the rows. A change that older programs would misread requires a new version."""
EDGES, COUNTERS, PENDING_EXTRACTIONS, USES = "edges.jsonl", "counters.jsonl", "unread.jsonl", "uses.jsonl"
RECEIPTS, STEPS, KEYS = "receipts.jsonl", "steps.jsonl", "keys.jsonl"
RECORDS = (EDGES, COUNTERS, PENDING_EXTRACTIONS, USES, RECEIPTS, STEPS, KEYS)
"""Files beside those of the collections. A collection cannot have one of these names (``RESERVED`` in the registry)."""
EMBEDDINGS = "embeddings"
_FILE = re.compile(rf"({EMBEDDINGS}/)?[a-z][a-z0-9_]{{0,63}}(\.jsonl|\.npy|\.ids\.json)")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """Expected size and checksum of a file. ``rows`` is the number of its lines, or of its vectors."""

    bytes: int
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """An edge type as registered in the exporting program; only the name if it was not registered there."""

    name: str
    category: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    weight: float | None = None
    on_consolidate: str | None = None
    target_subtypes: tuple[str, ...] = ()

    @classmethod
    def of(cls, edge_type: EdgeType) -> DeclaredType:
        """Return the declaration of a registered type."""
        return cls(
            name=edge_type.name,
            category=edge_type.category.value,
            pairs=tuple(sorted((source.value, target.value) for source, target in edge_type.pairs)),
            weight=edge_type.weight,
            on_consolidate=edge_type.on_consolidate.value,
            target_subtypes=tuple(sorted(edge_type.target_subtypes)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Metadata of an export.

    ``tenant`` and ``context`` are the requested scope (None: all). ``model`` is the model of the vectors, None without
    vectors. ``left_out`` counts the records that could not be exported. ``erased_meanwhile``: something was erased from
    the store while it was exported, and may be in the export all the same. ``digest``, the SHA-256 of all other fields,
    identifies the export.
    """

    format: str = FORMAT
    version: int = VERSION
    created_at: datetime
    program: str
    tenant: str | None = None
    context: str | None = None
    model: ModelIdentity | None = None
    collections: tuple[NodeCollection, ...] = ()
    edge_types: tuple[DeclaredType, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
    erased_meanwhile: bool = False
    files: dict[str, FileEntry] = field(default_factory=dict)
    digest: str = ""

    def sealed(self) -> Manifest:
        """Return the manifest with its digest."""
        return replace(self, digest=_digest(self))

    def dump(self) -> str:
        """Return the manifest as readable JSON."""
        return json.dumps(_json_fields(self), ensure_ascii=False, indent=2) + "\n"

    def rows(self, names: Iterable[str] | None = None) -> int:
        """Return the number of lines of these files, or of all."""
        return sum(entry.rows for name, entry in self.files.items() if names is None or name in names)

    @property
    def vectors(self) -> int:
        """The number of vectors of passages and statements."""
        return sum(entry.rows for name, entry in self.files.items() if name.endswith(".npy"))

    @property
    def node_files(self) -> dict[str, NodeCollection]:
        """The files of the collections, in reading order."""
        return {f"{collection.name}.jsonl": collection for collection in self.collections}


_ADAPTER = TypeAdapter(Manifest)


def is_name(name: str) -> bool:
    """Return whether a file of an export may have this name; such a name never leads out of the folder."""
    return name == NAME or _FILE.fullmatch(name) is not None


def load(text: str) -> Manifest:
    """Parse the output of ``dump``. Raises InvalidInputError if invalid, changed, unsafe or of another version."""
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise refusal(NAME, f"is not valid JSON: {error}") from error
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise refusal(NAME, f"is not of an export (its format is not {FORMAT!r})", "Name the folder of an export")
    if fields.get("version") != VERSION:
        raise refusal(
            NAME,
            f"version {fields.get('version')!r} is not {VERSION}, the one that this program reads",
            "Import it with the program that made it, or upgrade VICW",
        )
    try:
        manifest = _ADAPTER.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise refusal(NAME, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    for name, entry in manifest.files.items():
        if not _FILE.fullmatch(name):
            raise refusal(
                NAME,
                f"files: {name[:100]!r} is not a valid file name of an export",
                "Do not import it: it was not written by an export",
            )
        if not _SHA256.fullmatch(entry.sha256) or entry.bytes < 0 or entry.rows < 0:
            raise refusal(NAME, f"files: invalid size, checksum or row count for {name}")
    if manifest.dump() != text or _digest(manifest) != manifest.digest:
        raise refusal(NAME, "digest: does not match the manifest")
    return manifest


def _json_fields(manifest: Manifest) -> dict[str, Any]:
    plain: dict[str, Any] = _ADAPTER.dump_python(manifest, mode="json")
    return _as_written(plain)


def _as_written(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without a note that few exports have: those of earlier versions stay readable, and ours by
    them.
    """
    return {name: value for name, value in fields.items() if name != "erased_meanwhile" or value}


def _digest(manifest: Manifest) -> str:
    plain = _as_written({name: value for name, value in asdict(manifest).items() if name != "digest"})
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()
