from __future__ import annotations

import gc

from vicw_runtime.http.serve import freeze_loaded_objects

OBJECTS = 100_000


def collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def test_loaded_objects_are_excluded_from_garbage_collection() -> None:
    threshold = gc.get_threshold()
    try:
        freeze_loaded_objects()
        before = collections()
        kept = [[number] for number in range(OBJECTS)]
        assert collections() - before <= OBJECTS // 10_000 + 2
        assert gc.get_freeze_count() > len(kept) // 10, "what was loaded before is not looked at any more"
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
