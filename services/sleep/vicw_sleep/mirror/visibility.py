"""Visibility filter of the mirror: files cannot check a viewer, so data that only some may see is left out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Sensitivity
from vicw_shared.text import fold_case
from vicw_sleep.mirror.atoms import Atom

EVERYTHING = "*"
"""The application itself as the viewer."""


@dataclass(frozen=True, slots=True)
class MirrorVisibility:
    """Viewer of a mirror: the public (empty), one person by name, or EVERYTHING.

    The public sees public and portable atoms, as in answers while the graph is down. A person also sees personal and
    sensitive atoms about that person, as in a private chat. The names of ABOUT edges' targets alone identify the
    person.
    """

    viewer: str = ""

    def sees(self, atom: Atom, at: datetime) -> bool:
        """Return whether an atom is in the mirror at an instant: current, and visible to the viewer."""
        if atom.ends_at is not None and atom.ends_at <= at:
            return False
        if self.viewer == EVERYTHING:
            return True
        own = bool(self.viewer) and fold_case(self.viewer) in atom.about
        return atom.item.portable and (atom.item.sensitivity is Sensitivity.PUBLIC or own)
