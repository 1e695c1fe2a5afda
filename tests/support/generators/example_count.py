"""How hard the tests that draw their examples try."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("VICW_TEST_TIMES", "1"))
"""So many times as many examples as a run takes by default."""
