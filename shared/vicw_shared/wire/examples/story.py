"""The story that all examples tell: Ana writes a novel, and her application keeps its scenes and her notes.

A new store of the tenant ``default`` that is sent the examples of ``POST /ingest`` gives these uids.
"""

from __future__ import annotations

NOVEL = "Fantasy Novel"
CHAPTER = "chapter-3"
BETRAYAL = "c3-p7"
FLIGHT = "c3-p8"
OLD_HOME = "n1"
NEW_HOME = "n2"
"""Ids of the two scenes of the chapter, and of two notes in which Ana says where she lives."""

NOVEL_UID = "5c3f696c-66b8-5240-9748-e965187e32c8"
BETRAYAL_UID = "a89a1be0-e204-5a9f-af94-b840116d7ef2"
BETRAYAL_2_UID = "6c9dc685-e39c-57a5-b8de-e1fc6cd30a89"
BETRAYAL_PASSAGE = "c900e0bd-a376-5b96-a220-8f845b802fdd"
FLIGHT_UID = "e34927af-a028-573f-b97c-961f8b5bdee5"
FLIGHT_PASSAGE = "961cf7ad-1311-5615-bdaa-44b038213de3"
OLD_HOME_UID = "e9db8961-d725-50b7-9545-3ce3d6f11eec"
NEW_HOME_UID = "35218097-aee4-5077-b1ff-f0c5ff0523e7"
MARA = "9f36bea2-80b0-584f-89b9-307a5a1bc81d"
RAVEN = "c266039b-0cff-5b58-a6d0-340d0541ecba"
AMULET = "07239ea0-dc7b-5117-8b00-b4bd050c3a53"
AMULET_TAG = "59b88290-7611-567b-a609-93c032be987e"
THEFT = "b1117c4b-89e0-5b3c-8961-e7cfe2242179"
DISCOVERY = "a2d2ce6b-d6c3-5d15-b0a5-c84ddf0dd037"
ANA = "fafab4b4-3c6e-5934-a88f-a760dc402c6d"
ANA_USER = "820f1b82-d577-545b-8213-292562ae7494"

THEFT_CAUSED_DISCOVERY = "664bc286-fee8-597c-8fd8-2990ea782538"
MARA_INITIATED_THEFT = "063a04dc-1165-5c5e-8f89-38e25900ab40"

SCENE_AT = "2026-01-19T10:00:00Z"
STORED_AT = "2026-01-19T10:00:01Z"
OLD_HOME_AT = "2025-11-03T18:00:00Z"
NEW_HOME_AT = "2026-01-20T18:00:00Z"
LATER_AT = "2026-01-21T09:00:00Z"
BETRAYAL_TEXT = "While the castle slept, Mara took the Sunken Amulet. At dawn Edran found the vault open."
FLIGHT_TEXT = (
    "Edran rode north before anyone could ask him where she had gone. In the villages they called her the Raven."
)
QUESTION = "who stole the amulet?"

JOB = "0b0f6c0e-5d0c-4f0e-8f4e-0c9f6f6f2a11"
KEY = "4f7a1c0b9d2e"
STEP = "5f0c6f0e-52a5-5d0c-9c39-0f6f2b4d7a11"
WEBHOOK = "1d0e6b52-8a55-5a7e-9a0f-6a3b0f2c7d41"
ERASURE = "7c2b9d54-0b1e-4d3c-8a6f-5e1d2c3b4a59"
EVENT = f"1768816801000000-{BETRAYAL_UID}"
CURSOR = "WyI5Zjk3NjM0NTZiOTgxZGE3IiwxNzY4OTMyMDAwLDQsIjM1MjE4MDk3Il0"
"""What a server chose: the ids of a job, a key, and others, and where a page ended."""
