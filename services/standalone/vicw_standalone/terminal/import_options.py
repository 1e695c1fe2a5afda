"""What options of an import may be, and what they are where the user says nothing."""

from __future__ import annotations

import os

import typer


def list_formats(wanted: bool) -> None:
    """Print the formats that are read, and end."""
    if wanted:
        from vicw_readers.registry import readers

        for reader in readers():
            typer.echo(f"{reader.name}: {reader.title} ({', '.join(reader.files)})")
            typer.echo(f"  kept: {reader.keeps}\n  not kept: {reader.leaves}")
        raise typer.Exit


def format_name(name: str) -> str:
    """Return the name of a format. Raises BadParameter if there is none of it."""
    from vicw_readers.registry import readers

    names = [reader.name for reader in readers()]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is no format. There are {', '.join(names)}")
    return name


def encoding_name(name: str) -> str:
    """Return the name of an encoding. Raises BadParameter if there is none of it."""
    import codecs

    try:
        return codecs.lookup(name).name
    except LookupError:
        raise typer.BadParameter(f"{name!r} is no encoding. Name one like latin-1 or cp1252") from None


def zone_name(name: str) -> str:
    """Return the name of a time zone. Raises BadParameter if there is none of it."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise typer.BadParameter(f"{name!r} is no time zone. Name one like Europe/Oslo") from None
    return name


def account_name() -> str | None:
    """Return the full name of the user's account, else its login; None if the system knows neither."""
    import getpass

    try:
        import pwd

        name = pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0].strip()
    except (ImportError, KeyError):
        name = ""
    try:
        return name or getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
