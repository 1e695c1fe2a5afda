"""Keys of receipts that several packages know."""

from __future__ import annotations

IMPORT_KEY = "import:"
"""What the key of the record of an import of files begins with. It names files, so an erasure removes it."""
