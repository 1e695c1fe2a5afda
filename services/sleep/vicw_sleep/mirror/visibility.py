"""What a mirror shows: files know no viewer, so what only some may see is not in them (seed 004)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Sensitivity
from vicw_shared.text import fold_case
from vicw_sleep.mirror.atoms import Atom

EVERYTHING = "*"
"""The viewer that is the application itself."""


@dataclass(frozen=True, slots=True)
class MirrorVisibility:
    """For whom a mirror is: everybody (empty), one person by name, or EVERYTHING.

    Everybody sees what is public and portable, as answers do while the graph is down. A person sees besides what is
    personal or sensitive about him or her, as in a private chat; who that is goes by the names that ABOUT edges lead
    to, and by nothing else.
    """

    viewer: str = ""

    def sees(self, atom: Atom, at: datetime) -> bool:
        """Tell whether an atom is in the mirror at an instant: current, and nobody's secret."""
        if atom.ends_at is not None and atom.ends_at <= at:
            return False
        if self.viewer == EVERYTHING:
            return True
        own = bool(self.viewer) and fold_case(self.viewer) in atom.about
        return atom.item.portable and (atom.item.sensitivity is Sensitivity.PUBLIC or own)
