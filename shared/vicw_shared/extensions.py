"""What other packages bring along: types for the registries, and the extractor of a language.

A package names what it has as an entry point; installing the package is enough. ``vicw.extensions`` are functions of
two arguments, the edge registry and the collection registry. ``vicw.extractors`` are callables without arguments that
return an ``Extractor``::

    [project.entry-points."vicw.extensions"]
    todo = "todo_memory:register"

    [project.entry-points."vicw.extractors"]
    german = "german_memory:GermanExtractor"
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from vicw_shared.errors import SettingsError
from vicw_shared.former_modules import new_place
from vicw_shared.model import CollectionRegistry, EdgeRegistry
from vicw_shared.ports.extraction import Extractor

GROUP = "vicw.extensions"
EXTRACTORS = "vicw.extractors"
NO_EXTRACTOR = "none"
"""The name that turns extraction by an installed extractor off."""
NOTHING_EXTRACTED = "no extractor: texts are stored and found, and only code is extracted"
"""What the log and ``vicw doctor`` say where no extractor is in use."""


@dataclass(frozen=True, slots=True)
class Registries:
    """The registries: edge types and node collections that may be stored."""

    edges: EdgeRegistry
    collections: CollectionRegistry


def load_registries() -> Registries:
    """Return the core registries with every installed extension's types.

    Raises SettingsError, which names the extension, if it cannot be loaded or contradicts another.
    """
    registries = Registries(EdgeRegistry.with_core_types(), CollectionRegistry())
    for entry in _installed(GROUP):
        with _named(f"extension {entry.name!r} ({entry.value}) cannot be registered"):
            entry.load()(registries.edges, registries.collections)
    return registries


def find_extractor(name: str | None) -> EntryPoint | None:
    """Return the entry point of the extractor of this name; for None, of the only one.

    None: the name is ``none``, or no extractor is installed. Raises SettingsError if the named one is not installed, or
    if several are and none is named.
    """
    entries = _installed(EXTRACTORS)
    if name is not None:
        entries = [entry for entry in entries if entry.name == name]
        if not entries and name != NO_EXTRACTOR:
            names = ", ".join(entry.name for entry in _installed(EXTRACTORS)) or "none"
            raise SettingsError(f"VICW_INGEST_EXTRACTOR is {name!r}, which is not installed. Installed: {names}")
    if len(entries) > 1:
        names = ", ".join(entry.name for entry in entries)
        raise SettingsError(
            f"Several extractors are installed ({names}). Set VICW_INGEST_EXTRACTOR to one of them, or to "
            f"{NO_EXTRACTOR!r}"
        )
    return entries[0] if entries else None


def load_extractor(name: str | None) -> Extractor | None:
    """Return the extractor that ``find_extractor`` finds, or None.

    Raises SettingsError, which names the extractor, if it cannot be loaded.
    """
    entry = find_extractor(name)
    if entry is None:
        return None
    with _named(f"extractor {entry.name!r} ({entry.value}) cannot be loaded"):
        extractor: Extractor = entry.load()()
        return extractor


def _installed(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda entry: entry.name)


@contextmanager
def _named(problem: str) -> Iterator[None]:
    """Raise any error of an extension as SettingsError; for an import of a moved module, with its new place."""
    try:
        yield
    except Exception as error:
        place = new_place(error) if isinstance(error, ImportError) else None
        raise SettingsError(f"{problem}: {error}{f'. {place}' if place is not None else ''}") from error
