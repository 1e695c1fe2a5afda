"""Where a user's data are by default. Apart from the settings, which take long to import."""

from __future__ import annotations

from pathlib import Path


def default_data_dir() -> Path:
    """Return where this system keeps a user's data; ~/.local/share/vicw on any system where it exists already."""
    former = Path.home() / ".local" / "share" / "vicw"
    if former.is_dir():
        return former
    import platformdirs  # its import takes longer than the rest of the settings

    return platformdirs.user_data_path("vicw", appauthor=False)
