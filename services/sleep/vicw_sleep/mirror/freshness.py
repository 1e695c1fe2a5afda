"""Whether a mirror can be followed from where it stands."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from vicw_shared.clock import now
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.ledger import LEDGER, MirrorLedger, is_usable
from vicw_sleep.mirror.visibility import EVERYTHING

SKEW = timedelta(minutes=5)
"""How far the clocks of the services and of the engine may be apart, and how far one may go back."""


def why_anew(folder: MirrorFolder, found: Marker, wanted: Marker) -> str:
    """Return why a run builds a mirror anew, as a sentence; "": it follows what has changed."""
    if found.viewer != wanted.viewer:
        told = f"it shows {_seen_by(found.viewer)}, not {_seen_by(wanted.viewer)}"
        return f"{told}; a run for this viewer (VICW_MIRROR_VIEWER, --viewer) builds it anew"
    reason = _why(folder, found, wanted)
    return f"{reason}; the next run builds it anew" if reason else ""


def _why(folder: MirrorFolder, found: Marker, wanted: Marker) -> str:
    if found.format != wanted.format:
        return "another version of VICW has made it"
    if found.whole != wanted.whole or folder.intended() is not None:
        return "a run was killed half-way"
    if found.erased != wanted.erased:
        return "something was erased since it was made"
    if not is_usable(folder.path):
        return f"{LEDGER}, which says what is on its pages, cannot be read"
    with closing(MirrorLedger(folder.path, reading=True)) as ledger:
        until = ledger.seen_until()
    # What was looked at by a clock that was ahead says nothing of what came since it is right.
    return "the clock was put back" if until is not None and until > now() + SKEW else ""


def _seen_by(viewer: str) -> str:
    if viewer == EVERYTHING:
        return "everything"
    return f"what {viewer!r} may see" if viewer else "what everybody may see"
