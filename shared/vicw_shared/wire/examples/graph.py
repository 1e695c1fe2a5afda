"""Examples of the graph: nodes, edges, named entities."""

from __future__ import annotations

from pydantic.config import JsonDict

from vicw_shared.wire.examples import story


def _node(uid: str, label: str, subtype: str, name: str) -> JsonDict:
    return {
        "uid": uid,
        "id": None,
        "label": label,
        "subtype": subtype,
        "name": name,
        "context": story.NOVEL,
        "domain": "creative",
    }


SCENE: JsonDict = {
    **_node(story.BETRAYAL_UID, "Event", "scene", "The Betrayal"),
    "id": story.BETRAYAL,
    "text": story.BETRAYAL_TEXT,
    "timestamp": story.SCENE_AT,
}
THEFT: JsonDict = {**_node(story.THEFT, "Event", "event", "Mara takes the amulet"), "timestamp": story.SCENE_AT}
DISCOVERY: JsonDict = {
    **_node(story.DISCOVERY, "Event", "event", "Edran finds the vault open"),
    "timestamp": story.SCENE_AT,
}
MARA = _node(story.MARA, "Entity", "villain", "Mara")
CAUSED: JsonDict = {
    "id": story.THEFT_CAUSED_DISCOVERY,
    "type": "CAUSED",
    "source": story.THEFT,
    "target": story.DISCOVERY,
    "weight": 1.0,
    "created_by": "caller",
    "certainty": 0.9,
}
INITIATED: JsonDict = {
    "id": story.MARA_INITIATED_THEFT,
    "type": "INITIATED",
    "source": story.MARA,
    "target": story.THEFT,
    "weight": 0.8,
    "created_by": "caller",
}
WALK: JsonDict = {
    "start": [story.BETRAYAL_UID],
    "nodes": [
        {**SCENE, "hops": 0, "flow_id": story.CHAPTER},
        {**DISCOVERY, "hops": 1, "source_item": story.BETRAYAL_UID},
        {**THEFT, "hops": 1, "source_item": story.BETRAYAL_UID},
        {**MARA, "hops": 2, "path": [story.MARA_INITIATED_THEFT]},
    ],
    "edges": [CAUSED, INITIATED],
    "complete": True,
    "took_ms": {"graph": 1.1, "total": 1.3},
}

MARA_REF: JsonDict = {
    "uid": story.MARA,
    "label": "Entity",
    "subtype": "villain",
    "name": "Mara",
    "context": story.NOVEL,
}
RAVEN_REF: JsonDict = {**MARA_REF, "uid": story.RAVEN, "name": "The Raven"}
RAVEN: JsonDict = {
    **RAVEN_REF,
    "domain": "creative",
    "created_at": story.STORED_AT,
    "degree": 2,
    "merged_into": {**MARA_REF, "guess": False},
    "canonical": story.MARA,
}
