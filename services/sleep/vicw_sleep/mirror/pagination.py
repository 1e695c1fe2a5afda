"""Cuts a bundle into pages: at most 100 atoms each (seed 000), and so that a change moves few of the cuts.

Were every page full, one atom that goes from the first would move all the others up by one. So a page ends early, from
its 50th atom on, after one whose uid says so, as files are cut in backups (content-defined chunking: Muthitacharoen et
al., "A Low-bandwidth Network File System", 2001): behind the next such atom the cuts are where they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicw_sleep.mirror.atoms import Place

MOST_ATOMS = 100
_FEWEST = 50
_ONE_IN = 32


def paginate(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    """Yield the pages of ascending places, 75 atoms each on average; depends on nothing else."""
    start = 0
    while start < len(places):
        end = start + min(_FEWEST, len(places) - start)
        while end < len(places) and end - start < MOST_ATOMS and not _ends(places[end - 1][2]):
            end += 1
        yield places[start:end]
        start = end


def _ends(uid: str) -> bool:
    return int(uid[-4:], 16) % _ONE_IN == 0
