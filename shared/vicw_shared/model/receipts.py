"""Keys of receipts that several packages know."""

from __future__ import annotations

from datetime import timedelta

IMPORT_KEY = "import:"
"""What the key of the record of an import of files begins with. It names files, so an erasure removes it."""
IMPORT_DEAD_AFTER = timedelta(seconds=60)
"""Age of the state of a running import from which its process counts as dead."""
RUNNING_IMPORT = frozenset({"running", "cancelling"})
"""Values of ``status`` in the record of an import that has not ended."""
