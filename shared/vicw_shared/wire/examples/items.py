"""Examples of items: how they are stored, and how they are read."""

from __future__ import annotations

from pydantic.config import JsonDict

from vicw_shared.wire.examples import story

INGEST_SCENES: JsonDict = {
    "context": story.NOVEL,
    "domain": "prose",
    "flow_id": story.CHAPTER,
    "items": [
        {
            "id": story.BETRAYAL,
            "text": story.BETRAYAL_TEXT,
            "subtype": "scene",
            "name": "The Betrayal",
            "timestamp": story.SCENE_AT,
            "tags": ["amulet"],
            "extraction": {
                "entities": [{"name": "Mara", "subtype": "villain"}, {"name": "Sunken Amulet", "subtype": "artifact"}],
                "events": [
                    {"id": "theft", "name": "Mara takes the amulet"},
                    {"id": "discovery", "name": "Edran finds the vault open"},
                ],
                "relations": [
                    {"source": "Mara", "type": "INITIATED", "target": "theft"},
                    {"source": "theft", "type": "CAUSED", "target": "discovery", "certainty": 0.9},
                ],
            },
        },
        {
            "id": story.FLIGHT,
            "text": story.FLIGHT_TEXT,
            "subtype": "scene",
            "extraction": {
                "entities": [{"name": "Edran", "subtype": "hero"}, {"name": "The Raven", "subtype": "villain"}]
            },
        },
    ],
}
INGEST_NOTES: JsonDict = {
    "context": story.NOVEL,
    "flow_id": "notes",
    "items": [
        {
            "id": story.OLD_HOME,
            "text": "I live in Vienna.",
            "speaker": "Ana",
            "user": "ana",
            "timestamp": story.OLD_HOME_AT,
        },
        {
            "id": story.NEW_HOME,
            "text": "I live in Graz now.",
            "speaker": "Ana",
            "user": "ana",
            "timestamp": story.NEW_HOME_AT,
        },
    ],
}
INGESTED_ITEM: JsonDict = {
    "id": story.BETRAYAL,
    "uid": story.BETRAYAL_UID,
    "status": "created",
    "label": "Event",
    "flow_id": story.CHAPTER,
    "flow_step": 1,
    "nodes": [
        {"uid": story.BETRAYAL_PASSAGE, "label": "Chunk", "subtype": "scene", "name": "The Betrayal"},
        {"uid": story.AMULET_TAG, "label": "Concept", "subtype": "tag", "name": "amulet"},
        {"uid": story.MARA, "label": "Entity", "subtype": "villain", "name": "Mara"},
        {"uid": story.AMULET, "label": "Entity", "subtype": "artifact", "name": "Sunken Amulet"},
        {"uid": story.THEFT, "label": "Event", "subtype": "event", "name": "Mara takes the amulet"},
        {"uid": story.DISCOVERY, "label": "Event", "subtype": "event", "name": "Edran finds the vault open"},
    ],
    "version": 1,
}
PATCHED_ITEM: JsonDict = {
    **INGESTED_ITEM,
    "uid": story.BETRAYAL_2_UID,
    "status": "updated",
    "nodes": [{"uid": story.MARA, "label": "Entity", "subtype": "villain", "name": "Mara"}],
    "version": 2,
}
LISTED_ITEM: JsonDict = {
    "uid": story.BETRAYAL_UID,
    "id": story.BETRAYAL,
    "context": story.NOVEL,
    "domain": "creative",
    "label": "Event",
    "subtype": "scene",
    "name": "The Betrayal",
    "version": 1,
    "text": story.BETRAYAL_TEXT,
    "flow_id": story.CHAPTER,
    "flow_step": 1,
    "tags": ["amulet"],
    "told_at": story.SCENE_AT,
    "timestamp": story.SCENE_AT,
    "created_at": story.STORED_AT,
}
ITEM_DETAILS: JsonDict = {
    **LISTED_ITEM,
    "passages": [{"uid": story.BETRAYAL_PASSAGE, "text": story.BETRAYAL_TEXT}],
    "edges": [
        {
            "id": "b16476ef-471d-5ac0-bdaf-c5651668c6bc",
            "type": "MENTIONS",
            "source": story.BETRAYAL_UID,
            "target": story.MARA,
            "weight": 0.5,
            "created_by": "caller",
            "other": {"uid": story.MARA, "label": "Entity", "subtype": "villain", "name": "Mara"},
            "source_item": story.BETRAYAL_UID,
        }
    ],
    "versions": [{"uid": story.BETRAYAL_UID, "version": 1, "created_at": story.STORED_AT}],
}
