"""``POST /import``, ``GET /import/{job}`` and ``DELETE /import/{job}``: files become items, as a job."""

from __future__ import annotations

import codecs
import io
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from vicw_shared.model import Sensitivity
from vicw_shared.model.receipts import RUNNING_IMPORT
from vicw_shared.wire.base import Id, Message, Prose, RawText, StrictBool, StrictInt, Timestamp, TimeZone, example
from vicw_shared.wire.examples import story

_EXAMPLE: JsonDict = {
    "job": story.JOB,
    "address": f"/import/{story.JOB}",
    "status": "done",
    "created_at": "2026-01-21T09:00:00Z",
    "updated_at": "2026-01-21T09:00:04Z",
    "uploaded": 2,
    "bytes": 48213,
    "report": {
        "dry_run": False,
        "created": 41,
        "read": [{"format": "markdown", "title": "Markdown", "files": 3, "items": 41}],
        "contexts": {story.NOVEL: 41},
        "refused": [
            {
                "path": "novel/plan.rtf",
                "reason": "is a RTF document, which is not read",
                "fix": "Save it as .docx",
                "kind": "RTF document",
            }
        ],
        "refused_kinds": {"RTF document": 1},
    },
}


def _encoding(name: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), name).read()  # refuses codecs between bytes, such as hex
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise PydanticCustomError("encoding", "is no encoding: name one like latin-1 or cp1252") from None


Pattern = Annotated[RawText, Field(min_length=1, max_length=1000)]


class ImportQuery(Message):
    """What is said of all files of an upload; null: not said. The same as the options of ``vicw ingest``."""

    context: Id | None = Field(
        None,
        description="Context of the items; null: the usual one of the format, else the folder's or file's name",
        examples=[story.NOVEL],
    )
    domain: Prose | None = Field(
        None, description="coding, creative, general, or your own; null: by kind of file", examples=["prose"]
    )
    flow: Id | None = Field(None, description="Flow of the items that have none of their own", examples=[story.CHAPTER])
    sensitivity: Sensitivity | None = Field(
        None, description="Who sees the items; null: personal for mail and people's chats, else public"
    )
    owner: Prose | None = Field(
        None, description="Whom what is not public is about, by name: whose files they are", examples=["Ana"]
    )
    timezone: TimeZone = Field("UTC", description="Zone of times without one", examples=["Europe/Vienna"])
    format: Id | None = Field(
        None, description="Format of all files, as `vicw ingest --list-formats` names it", examples=["markdown"]
    )
    encoding: Annotated[RawText, AfterValidator(_encoding)] | None = Field(
        None, description="Encoding of texts that are not UTF-8", examples=["cp1252"]
    )
    include: tuple[Pattern, ...] = Field(
        (),
        max_length=100,
        description="Read only these files of folders and archives: a pattern as of .gitignore. Repeatable",
        examples=[["*.md"]],
    )
    exclude: tuple[Pattern, ...] = Field(
        (),
        max_length=100,
        description="Leave these files of folders and archives out. Repeatable",
        examples=[["drafts/"]],
    )
    dry_run: bool = Field(False, description="Store nothing: the report says what would be read")


class ReadFiles(Message):
    """What was read of one format."""

    format: str
    title: str
    files: StrictInt
    items: StrictInt


class UnreadEntry(Message):
    """A file, line or item that was not read, or not as it stands: why, the way out, and what kind of file it is."""

    path: str
    line: StrictInt | None = None
    reason: str
    fix: str = ""
    kind: str = ""


class ImportReport(Message):
    """What became of the items, what was read by format, and what was not.

    ``replaced`` counts items of conversations that were edited since, ``stored_before`` those that an earlier run of
    the command stored, ``private`` those that not everybody sees. ``refused`` has a way out, ``passed_over`` is
    normal, ``noted`` was read otherwise than it stands; each may be cut, and is counted whole by kind. ``jobs`` are
    requests of the command that are still being indexed.
    """

    dry_run: StrictBool
    created: StrictInt = 0
    updated: StrictInt = 0
    unchanged: StrictInt = 0
    replaced: StrictInt = 0
    linked: StrictInt = 0
    stored_before: StrictInt = 0
    private: StrictInt = 0
    contexts: dict[str, StrictInt] = Field(default_factory=dict)
    masked: dict[str, StrictInt] = Field(default_factory=dict)
    read: tuple[ReadFiles, ...] = ()
    refused: tuple[UnreadEntry, ...] = ()
    passed_over: tuple[UnreadEntry, ...] = ()
    noted: tuple[UnreadEntry, ...] = ()
    refused_kinds: dict[str, StrictInt] = Field(default_factory=dict)
    passed_over_kinds: dict[str, StrictInt] = Field(default_factory=dict)
    noted_kinds: dict[str, StrictInt] = Field(default_factory=dict)
    jobs: tuple[str, ...] = ()


class ImportJob(Message):
    """An import of uploaded files, and how far it is.

    ``cancelling`` ends in a moment as ``cancelled``. ``interrupted``: the server ended during it; ``failed``: it ended
    by ``error``. In each case what was stored stays; the same upload again goes on, and stores nothing twice.
    """

    model_config = example(_EXAMPLE)

    job: str
    address: str = Field(description="Path of the job: GET tells how far it is, DELETE cancels it")
    status: Literal["running", "cancelling", "done", "failed", "cancelled", "interrupted"]
    created_at: Timestamp
    updated_at: Timestamp
    uploaded: StrictInt = Field(description="Files of the upload")
    bytes: StrictInt = Field(description="Size of the upload")
    error: str | None = Field(None, description="Why it ended early")
    report: ImportReport

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status not in RUNNING_IMPORT
