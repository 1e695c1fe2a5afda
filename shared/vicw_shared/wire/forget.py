"""``POST /forget`` and ``GET /forget/{erasure}``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, Timestamp, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.filters import Filter


class EraseRequest(Message):
    """What to erase for good: ``items``, what passes a ``filter``, a ``user``, a ``person``, a ``context``, or all."""

    model_config = example({"items": [story.BETRAYAL], "context": story.NOVEL, "dry_run": True})

    items: Annotated[tuple[Id, ...], Field(min_length=1)] | None = Field(
        None, description="Your ids, or uids, of items: they go with all their versions"
    )
    filter: Filter | None = Field(
        None, description="Items of which the latest version passes it, also retracted ones: they go with all versions"
    )
    user: Id | None = Field(None, description="Your id of a user: what the user and that person said or is about them")
    person: Id | None = Field(None, description="Name, or uid, of a person: what the person said or is about them")
    context: Id | None = Field(
        None, description="Alone: this context with everything in it. Beside another field: only inside it"
    )
    all: StrictBool = Field(
        False,
        description="Needed to erase all contexts: alone, with `context` if there is no other one, or with a `filter` "
        "that every item passes",
    )
    everywhere: StrictBool = Field(False, description="With `person`: the name is the same person in every context")
    mentions: StrictBool = Field(False, description="With `person` or `user`: also items of others that mention them")
    dry_run: StrictBool = Field(False, description="Erase nothing; the answer says what would go")
    wait: StrictBool = Field(True, description="Answer when it is proven; false answers 202 at once")


class ErasureSelected(Message):
    """What was selected, in numbers: `items` chosen one by one, whole `contexts`, `people`.

    ``mentioned`` items of others mention the person, and stay.
    """

    items: StrictInt
    contexts: StrictInt
    people: StrictInt
    mentioned: StrictInt


class ErasureProved(Message):
    """What went (``nodes`` by label), and the result of the search for it.

    ``found`` are places that still have erased data. ``read``: bytes of files searched. ``files``: the engines' own
    files were rewritten and searched, too. ``waiting`` passages are not updated yet.
    """

    proven: StrictBool
    nodes: dict[str, StrictInt]
    receipts: StrictInt
    steps: StrictInt
    found: tuple[str, ...] = ()
    files: StrictBool
    read: StrictInt = 0
    waiting: StrictInt = 0


class Erasure(Message):
    """An erasure and its progress. It goes on after a restart, and is never undone.

    ``selected``: a dry run, nothing was erased. ``done``: proven. ``unproven``: everything is erased that VICW knows
    of, but ``proof.found`` still has some of it; the next erasure searches again.
    """

    model_config = example(
        {
            "erasure": story.ERASURE,
            "status": "done",
            "selected": {"items": 1, "contexts": 0, "people": 0, "mentioned": 0},
            "created_at": story.LATER_AT,
            "done": 6,
            "proof": {
                "proven": True,
                "nodes": {"Event": 3, "Entity": 2, "Chunk": 1},
                "receipts": 1,
                "steps": 0,
                "files": True,
                "read": 1646592,
            },
        },
        {
            "erasure": None,
            "status": "selected",
            "selected": {"items": 1, "contexts": 0, "people": 0, "mentioned": 0},
            "created_at": story.LATER_AT,
        },
    )

    erasure: str | None = Field(description="Its uid; null for a dry run")
    status: Literal["selected", "running", "done", "unproven"]
    selected: ErasureSelected
    created_at: Timestamp
    step: str | None = Field(None, description="What is being done; null before and after")
    done: StrictInt = Field(0, description="Nodes erased so far")
    error: str | None = Field(None, description="Why the latest try ended early; it is tried again")
    proof: ErasureProved | None = None
