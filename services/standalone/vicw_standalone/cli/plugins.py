"""Command groups of other packages.

A package names a Typer application as an entry point of the group ``vicw.commands``; installing it is enough, and the
entry point's name becomes the command's. It is imported when it is chosen, and does not replace one of our own::

    [project.entry-points."vicw.commands"]
    bench = "vicw_bench.cli:app"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "vicw.commands"
_SUMMARIES = {"bench": "Measure: fidelity, speed, the write path, extraction."}
"""Help of the commands of our own packages."""


def summaries() -> dict[str, str]:
    """Return the help of each command, by its name; the packages themselves are not imported."""
    return {
        name: _SUMMARIES.get(name, f"Commands of the package {_package(entry)}.") for name, entry in _found().items()
    }


def register(app: typer.Typer, name: str) -> None:
    """Add the command ``name`` of an installed package, if there is one.

    Of a package that cannot be loaded the command is added, too: it fails with an error that names the package and the
    reason.
    """
    entry = _found().get(name)
    if entry is not None:
        _add(app, name, entry)


def _found() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and our own commands do not need it

    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=_package)}


def _add(app: typer.Typer, name: str, entry: EntryPoint) -> None:
    try:
        group = entry.load()
        if not isinstance(group, typer.Typer):
            raise TypeError(f"{group!r} is no Typer application")
        app.add_typer(group, name=name)
    except Exception as error:
        where = f"package {_package(entry)!r} ({entry.value})"
        _refuse(app, name, f"the command {name!r} of the {where} cannot be loaded: {error}")


def _refuse(app: typer.Typer, name: str, reason: str) -> None:
    def refuse() -> None:
        raise SettingsError(reason)

    # Whatever is asked of the command, help included, the answer is the reason.
    taking_all = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, context_settings=taking_all)(refuse)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value
