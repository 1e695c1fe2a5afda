"""Examples of the operations of erasure."""

from __future__ import annotations

from pydantic.config import JsonDict

from vicw_shared.wire.examples import story

TARGET: JsonDict = {"what": "items", "ids": [story.BETRAYAL], "context": story.NOVEL}
SELECTED: JsonDict = {"selected": [{"tenant": "default", "items": {story.NOVEL: 1}}]}
ERASED: JsonDict = {
    "erasures": [
        {
            "erasure": story.ERASURE,
            "earlier": False,
            "nodes": {"Event": 3, "Entity": 2, "Chunk": 1},
            "receipts": 1,
            "steps": 0,
            "proven": True,
            "searched": 1,
            "read": 1646592,
        }
    ],
    "files": True,
}
