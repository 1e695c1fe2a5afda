"""Integrations extend the registries at start-up.

A package names a function of two arguments, the edge registry and the collection registry, as an entry point of
the group ``vicw.extensions``; installing the package is enough::

    [project.entry-points."vicw.extensions"]
    todo = "todo_memory:register"
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points

from vicw_shared.errors import SettingsError
from vicw_shared.model import CollectionRegistry, EdgeRegistry

GROUP = "vicw.extensions"


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
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            entry.load()(registries.edges, registries.collections)
        except Exception as error:
            raise SettingsError(f"extension {entry.name!r} ({entry.value}) cannot be registered: {error}") from error
    return registries
