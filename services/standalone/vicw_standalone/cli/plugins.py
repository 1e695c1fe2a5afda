"""Command groups of other packages.

A package names a Typer application as an entry point of the group ``vicw.commands``; installing it is enough, and the
entry point's name becomes the command's, in place of one of our own by that name::

    [project.entry-points."vicw.commands"]
    bench = "vicw_bench.cli:app"
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import typer

from vicw_shared.errors import SettingsError

GROUP = "vicw.commands"


def register(app: typer.Typer) -> None:
    """Add the commands of installed packages.

    A package that cannot be loaded leaves all other commands as they are: only its own one fails, with an error that
    names the package and the reason.
    """
    found = {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=_package)}
    for name, entry in sorted(found.items()):
        _add(app, name, entry)


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
    app.command(name, help=f"Not available: {reason}.", context_settings=taking_all)(refuse)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value
