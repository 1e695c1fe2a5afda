"""Whether a mirror can be followed from where it stands."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from vicw_shared.clock import now
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.ledger import Ledger, is_usable

SKEW = timedelta(minutes=5)
"""How far the clocks of the services and of the engine may be apart, and how far one may go back."""


def why_anew(folder: MirrorFolder, found: Marker, wanted: Marker) -> str:
    """Return why the next run builds a mirror anew, as a sentence; "": it follows what has changed."""
    if found != wanted:
        return "it is for other viewers, or of an earlier format, or something was erased since"
    if folder.intended() is not None:
        return "a run was killed half-way"
    if not is_usable(folder.path):
        return "its ledger cannot be read"
    with closing(Ledger(folder.path, reading=True)) as ledger:
        until = ledger.seen_until()
    # What was looked at by a clock that was ahead says nothing of what came since it is right.
    return "the clock was put back" if until is not None and until > now() + SKEW else ""
