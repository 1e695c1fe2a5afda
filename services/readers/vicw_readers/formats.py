"""The formats that are read, as a table: ``python -m vicw_readers.formats`` prints that of the documentation."""

from __future__ import annotations

from vicw_readers.registry import READERS

HEAD = "| files | usually called | what is kept | what is not |\n|---|---|---|---|"


def table() -> str:
    """Return the table of our own formats, in Markdown, in the order in which files are offered to their readers."""
    rows = (
        f"| {reader.title} | {' '.join(f'`{name}`' for name in reader.files)} | {reader.keeps} | {reader.leaves} |"
        for reader in READERS
    )
    return "\n".join((HEAD, *rows))


if __name__ == "__main__":
    print(table())
