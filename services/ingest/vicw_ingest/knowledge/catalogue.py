"""What is in a knowledge folder: its pages as they are stored, and what each may be called in a link.

A large folder is work for a core: it is done beside the event loop, so that other requests go on.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from vicw_ingest.knowledge.links import LinkKind, PageLink
from vicw_ingest.knowledge.pages import INDEXES, stem_of
from vicw_ingest.knowledge.record import PageRecord
from vicw_shared.model import Node
from vicw_shared.model.knowledge import FILE, FOLDER, PAGE, folder_uid
from vicw_shared.ports import Direction, GraphStore, Lookups
from vicw_shared.text import fold_case as fold_anew

_MODULES = frozenset({"__init__", "index", "mod"})
_WHOLE_FOLDER = 1_000_000
fold = lru_cache(100_000)(fold_anew)  # the names of a folder are the same in each write


@dataclass(slots=True)
class PageEntry:
    """A page of the folder: its node, and what that remembers. ``fresh``: it is being filed."""

    node: Node
    record: PageRecord
    fresh: bool = False

    @property
    def path(self) -> str:
        """Where it is in the folder."""
        return self.record.path

    @property
    def parent(self) -> str:
        """The folder that it is in."""
        return "/".join(self.path.split("/")[:-1])


@dataclass(slots=True)
class Catalogue:
    """All of one folder: pages by their paths, and the folder nodes by theirs."""

    folder: str
    entries: list[PageEntry] = field(default_factory=list)
    folders: dict[str, Node] = field(default_factory=dict)
    _paths: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _names: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _titles: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _tails: dict[str, list[PageEntry]] = field(default_factory=lambda: defaultdict(list))
    _places: set[str] = field(default_factory=set)

    def add(self, entry: PageEntry) -> None:
        """Add a page: links may lead to it."""
        self.entries.append(entry)
        path = entry.path
        bare = _bare(path)
        for name in {fold(path), fold(bare)}:
            self._paths[name].append(entry)
        place = entry.parent
        while place:
            self._places.add(place)
            place = "/".join(place.split("/")[:-1])
        if stem_of(path) in INDEXES | _MODULES and stem_of(path) != "mod":
            self._paths[fold(entry.parent)].append(entry)
        for tail in {*_tails(fold(path)), *_tails(fold(bare))}:
            self._names[tail].append(entry)
        if entry.node.subtype == FILE:
            place = "/".join(bare.split("/")[:-1]) if stem_of(path) in _MODULES else bare
            for tail in _tails(fold(place)):
                self._tails[tail].append(entry)
        for name in dict.fromkeys(map(fold, (entry.node.name, *entry.record.aliases, *entry.record.keys))):
            self._titles[name].append(entry)

    @property
    def places(self) -> set[str]:
        """Paths of the folders that have pages, themselves or further down; the folder itself is not among them."""
        return self._places

    def meant(self, link: PageLink, page: PageEntry) -> list[PageEntry]:
        """Return the pages that a link of ``page`` may mean: one, several that are called so, or none."""
        if not link.target:
            return [page]
        for level in self._levels(link, page):
            found = list({entry.node.uid: entry for entry in level}.values())
            near = [entry for entry in found if entry.parent == page.parent]
            if found:
                return near if len(near) == 1 else found
        return []

    def place_meant(self, link: PageLink, page: PageEntry) -> str | None:
        """Return the path of the folder that a path means, or None."""
        path = _joined(page.parent, link.target)
        return path if path is not None and (path == "" or path in self._places) else None

    def _levels(self, link: PageLink, page: PageEntry) -> Iterator[Sequence[PageEntry]]:
        """Yield the pages that a link may mean, the surest way first; a later way counts if no earlier finds any."""
        if link.kind is LinkKind.IMPORT:
            yield from self._modules(link.target, page)
            return
        near = _joined(page.parent, link.target)
        if near is not None:
            yield self._paths.get(fold(near), ())
        if link.kind is LinkKind.PATH:
            return
        yield self._paths.get(fold(link.target.strip("/")), ())
        if link.kind is LinkKind.WIKI:
            yield self._names.get(fold(link.target), ())
            yield self._titles.get(fold(link.target), ())

    def _modules(self, module: str, page: PageEntry) -> Iterator[Sequence[PageEntry]]:
        if module.startswith("/"):  # what a relative import means
            yield [e for e in self._paths.get(fold(module[1:]), ()) if e.node.subtype == FILE]
            return
        name = fold(module.replace("::", "/").replace(".", "/").strip("/"))
        suffix = PurePosixPath(page.path).suffix
        found = [e for e in self._tails.get(name, ()) if PurePosixPath(e.path).suffix == suffix and e is not page]
        if "/" not in name:  # ``import json`` is another's, unless it stands where programs look first
            found = [e for e in found if fold(_bare(e.path)).removesuffix("/__init__") in _first_looked_at(page, name)]
        yield found


async def load(lookups: Lookups, tenant: str, context: str, folder: str) -> Catalogue:
    """Return what a folder holds, read inside a write."""
    catalogue = Catalogue(folder)
    frontier = [folder_uid(tenant, context, folder, "")]
    catalogue.folders |= _live_folders(await lookups.nodes(frontier))
    while frontier:
        edges = await lookups.edges(frontier, ["CONTAINS"], Direction.OUT)
        nodes = await lookups.nodes([edge.target for edge in edges])
        frontier = await asyncio.to_thread(_take, catalogue, nodes.values())
    return catalogue


async def read(graph: GraphStore, tenant: str, context: str, folder: str) -> Catalogue:
    """Return what a folder holds, read outside a write."""
    catalogue = Catalogue(folder)
    frontier = [folder_uid(tenant, context, folder, "")]
    while frontier:
        found = await graph.expand(tenant, frontier, [("CONTAINS", Direction.OUT)], _WHOLE_FOLDER)
        frontier = await asyncio.to_thread(_take, catalogue, [neighbour.node for neighbour in found])
    return catalogue


def _take(catalogue: Catalogue, nodes: Iterable[Node]) -> list[str]:
    """Add pages and folders; return the uids of the folders that are new."""
    known = {node.uid for node in catalogue.folders.values()}
    nodes = [node for node in nodes if node.retired_at is None and node.metadata.get("folder") == catalogue.folder]
    for node in sorted(nodes, key=lambda node: str(node.metadata["path"])):
        if node.subtype in {PAGE, FILE}:
            catalogue.add(PageEntry(node, PageRecord.of(node)))
    found = _live_folders({node.uid: node for node in nodes if node.uid not in known})
    catalogue.folders |= found
    return [node.uid for node in found.values()]


def _live_folders(nodes: dict[str, Node]) -> dict[str, Node]:
    return {str(n.metadata["path"]): n for n in nodes.values() if n.subtype == FOLDER and n.retired_at is None}


def _joined(parent: str, target: str) -> str | None:
    """Return the path inside the folder that a relative one means; None if it leads out of the folder."""
    parts = [] if target.startswith("/") else [part for part in parent.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _bare(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    return path.removesuffix(suffix) if suffix else path


def _tails(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _first_looked_at(page: PageEntry, name: str) -> set[str]:
    """Return where a module of one word is looked for: beside the file that needs it, and where sources begin."""
    return {fold(f"{place}/{name}".lstrip("/")) for place in (page.parent, "", "src", "lib")}
