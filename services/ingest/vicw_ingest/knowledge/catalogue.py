"""Catalogue of a knowledge folder: its stored pages, and the names by which links may refer to them.

Large folders are CPU-bound: the catalogue is built in a thread, so that the event loop serves other requests.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from vicw_core.markdown.links import LinkKind, PageLink
from vicw_core.markdown.note_titles import is_markdown
from vicw_ingest.knowledge.pages import INDEXES, stem_of
from vicw_ingest.knowledge.record import PageRecord
from vicw_shared.model import Node
from vicw_shared.model.knowledge import FILE, FOLDER, PAGE, folder_uid
from vicw_shared.ports import Direction, GraphStore, Lookups
from vicw_shared.text import fold_case as fold_anew

_MODULES = frozenset({"__init__", "index", "mod"})
_SITE = "@site/"
"""What Docusaurus calls the folder of the whole site; the one that is read may be a folder in it."""
_WHOLE_FOLDER = 1_000_000
fold = lru_cache(100_000)(fold_anew)  # each write folds the same names of a folder


@dataclass(slots=True)
class PageEntry:
    """A page of the folder: its node and record. ``fresh``: the current write adds or changes it."""

    node: Node
    record: PageRecord
    fresh: bool = False

    @property
    def path(self) -> str:
        """Its path in the folder."""
        return self.record.path

    @property
    def parent(self) -> str:
        """The path of its parent folder."""
        return "/".join(self.path.split("/")[:-1])


@dataclass(slots=True)
class Catalogue:
    """The content of one folder: its pages, indexed by path and name, and its folder nodes by path."""

    folder: str
    entries: list[PageEntry] = field(default_factory=list)
    folders: dict[str, Node] = field(default_factory=dict)
    _paths: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _slugs: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _names: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _titles: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _tails: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _blocks: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _subfolders: set[str] = field(default_factory=set)

    def add(self, entry: PageEntry) -> None:
        """Add a page as a possible link target."""
        self.entries.append(entry)
        path = entry.path
        without_suffix = _without_suffix(path)
        for name in {fold(path), fold(without_suffix)}:
            self._paths[name].append(entry)
        slug = _joined(entry.parent, entry.record.slug) if entry.record.slug else None
        if slug is not None:  # one that leads out of the folder is none
            self._slugs[fold(slug)].append(entry)
        folder = entry.parent
        while folder:
            self._subfolders.add(folder)
            folder = "/".join(folder.split("/")[:-1])
        if stem_of(path) in INDEXES | _MODULES and stem_of(path) != "mod":
            self._paths[fold(entry.parent)].append(entry)
        for tail in {*_tails(fold(path)), *_tails(fold(without_suffix))}:
            self._names[tail].append(entry)
        if entry.node.subtype == FILE:
            folder = "/".join(without_suffix.split("/")[:-1]) if stem_of(path) in _MODULES else without_suffix
            for tail in _tails(fold(folder)):
                self._tails[tail].append(entry)
        for block, _ in entry.record.blocks:
            self._blocks[block].append(entry)
        for name in dict.fromkeys(map(fold, (entry.node.name, *entry.record.aliases, *entry.record.keys))):
            self._titles[name].append(entry)

    @property
    def subfolders(self) -> set[str]:
        """Paths of the sub-folders that contain pages, directly or further down."""
        return self._subfolders

    def candidates(self, link: PageLink, page: PageEntry) -> list[PageEntry]:
        """Return the pages that a link of ``page`` may refer to: one, several with the same name, or none."""
        if not link.target:
            return [page]
        for level in self._levels(link, page):
            entries = list({entry.node.uid: entry for entry in level}.values())
            if link.kind is LinkKind.WIKI:  # a note before the canvas, the text or the code of the same name
                entries = [entry for entry in entries if is_markdown(entry.path)] or entries
            beside_page = [entry for entry in entries if entry.parent == page.parent]
            if entries:
                return beside_page if len(beside_page) == 1 else entries
        return []

    def folder_of(self, link: PageLink, page: PageEntry) -> str | None:
        """Return the path of the folder that a link refers to, or None."""
        path = _joined(page.parent, link.target)
        return path if path is not None and (path == "" or path in self._subfolders) else None

    def _levels(self, link: PageLink, page: PageEntry) -> Iterator[Sequence[PageEntry]]:
        """Yield candidate pages per lookup method, most certain first; a later one counts if none before matches."""
        if link.kind is LinkKind.IMPORT:
            yield from self._modules(link.target, page)
            return
        if link.kind is LinkKind.BLOCK:
            yield self._blocks.get(link.target, ())
            return
        if link.target.startswith(_SITE):
            yield from (self._paths.get(fold(tail), ()) for tail in _tails(link.target.removeprefix(_SITE)))
            return
        relative = _joined(page.parent, link.target)
        if relative is not None:
            yield self._paths.get(fold(relative), ())
            yield self._slugs.get(fold(relative), ())
        if link.kind is LinkKind.PATH:
            return
        yield self._paths.get(fold(link.target.strip("/")), ())
        if link.kind is LinkKind.WIKI:
            yield self._names.get(fold(link.target), ())
            yield self._titles.get(fold(link.target), ())

    def _modules(self, module: str, page: PageEntry) -> Iterator[Sequence[PageEntry]]:
        if module.startswith("/"):  # a relative import
            yield [e for e in self._paths.get(fold(module[1:]), ()) if e.node.subtype == FILE]
            return
        name = fold(module.replace("::", "/").replace(".", "/").strip("/"))
        suffix = PurePosixPath(page.path).suffix
        entries = [e for e in self._tails.get(name, ()) if PurePosixPath(e.path).suffix == suffix and e is not page]
        if "/" not in name:  # ``import json`` is external, unless the file is where imports are looked up first
            entries = [
                e
                for e in entries
                if fold(_without_suffix(e.path)).removesuffix("/__init__") in _import_roots(page, name)
            ]
        yield entries


async def load(lookups: Lookups, tenant: str, context: str, folder: str) -> Catalogue:
    """Return the catalogue of a folder, read inside a write."""
    catalogue = Catalogue(folder)
    frontier = [folder_uid(tenant, context, folder, "")]
    catalogue.folders |= _live_folders(await lookups.nodes(frontier))
    while frontier:
        edges = await lookups.edges(frontier, ["CONTAINS"], Direction.OUT)
        nodes = await lookups.nodes([edge.target for edge in edges])
        frontier = await asyncio.to_thread(_add_nodes, catalogue, nodes.values())
    return catalogue


async def read(graph: GraphStore, tenant: str, context: str, folder: str) -> Catalogue:
    """Return the catalogue of a folder, read outside a write."""
    catalogue = Catalogue(folder)
    frontier = [folder_uid(tenant, context, folder, "")]
    while frontier:
        neighbours = await graph.expand(tenant, frontier, [("CONTAINS", Direction.OUT)], _WHOLE_FOLDER)
        frontier = await asyncio.to_thread(_add_nodes, catalogue, [neighbour.node for neighbour in neighbours])
    return catalogue


def _add_nodes(catalogue: Catalogue, nodes: Iterable[Node]) -> list[str]:
    """Add pages and folders; return the uids of the new folders."""
    known_uids = {node.uid for node in catalogue.folders.values()}
    nodes = [node for node in nodes if node.retired_at is None and node.metadata.get("folder") == catalogue.folder]
    for node in sorted(nodes, key=lambda node: str(node.metadata["path"])):
        if node.subtype in {PAGE, FILE}:
            catalogue.add(PageEntry(node, PageRecord.of(node)))
    folders = _live_folders({node.uid: node for node in nodes if node.uid not in known_uids})
    catalogue.folders |= folders
    return [node.uid for node in folders.values()]


def _live_folders(nodes: dict[str, Node]) -> dict[str, Node]:
    return {str(n.metadata["path"]): n for n in nodes.values() if n.subtype == FOLDER and n.retired_at is None}


def _joined(parent: str, target: str) -> str | None:
    """Resolve a relative path inside the folder; None if it leads out of the folder."""
    parts = [] if target.startswith("/") else [part for part in parent.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _without_suffix(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    return path.removesuffix(suffix) if suffix else path


def _tails(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _import_roots(page: PageEntry, name: str) -> set[str]:
    """Return the paths at which a one-word module is looked up: beside the importing file and in source roots."""
    return {fold(f"{folder}/{name}".lstrip("/")) for folder in (page.parent, "", "src", "lib")}
