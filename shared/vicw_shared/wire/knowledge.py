"""Pages of knowledge folders: an item's path in a folder, and ``GET /knowledge``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from vicw_shared.wire.base import Id, Message, example
from vicw_shared.wire.examples import story


def _inside(path: str) -> str:
    if any(part in {"", ".", ".."} for part in path.split("/")) or "\\" in path:
        raise PydanticCustomError("page_path", "is not a path inside the folder: give one such as docs/setup.md")
    return path


def _plain(folder: str) -> str:
    if "/" in folder:
        raise PydanticCustomError("page_folder", "contains a slash: give a plain name; the location belongs in `path`")
    return folder


class PageRef(Message):
    """The page of a knowledge folder that an item is; the item's text is the whole file, with its front matter."""

    folder: Annotated[Id, AfterValidator(_plain)] = Field(
        description="Name of the knowledge folder: links are looked up among its pages"
    )
    path: Annotated[Id, AfterValidator(_inside)] = Field(
        description="Path of the file in the folder, such as docs/setup.md; the suffix tells its kind. The item's id "
        "stays the same when the file moves"
    )


class LinkFault(StrEnum):
    """Why a link is broken."""

    MISSING = "missing"
    HEADING = "heading"
    AMBIGUOUS = "ambiguous"


class LinkProblem(Message):
    """A broken link of a page."""

    fault: LinkFault = Field(
        description="`missing`: there is no such page; `heading`: the page has no such heading; `ambiguous`: several "
        "pages have this name"
    )
    target: str = Field(description="What the link says")
    line: int = Field(description="Its line in the file, from 1")
    candidates: tuple[str, ...] = Field((), description="Paths of the pages that may be meant")


class KnowledgeQuery(Message):
    """A list of the pages of a knowledge folder."""

    context: Id = Field(examples=[story.NOVEL])
    folder: Id = Field(examples=["world"])
    after: Id | None = Field(None, description="The `next` of the page before", examples=[story.CURSOR])
    limit: Annotated[int, Field(ge=1, le=5000)] = 1000


class KnownPage(Message):
    """A stored page."""

    id: str = Field(description="The item's id")
    uid: str = Field(description="The page's node: the same for all versions")
    path: str
    title: str
    key: str | None = Field(None, description="The `id` of its front matter")
    sha256: str = Field(description="Of the text that was sent, in UTF-8, secrets masked")
    links: tuple[LinkProblem, ...] = Field((), description="Links that lead nowhere as of now")


class KnownPages(Message):
    """The pages of a knowledge folder, by path."""

    model_config = example(
        {
            "context": story.NOVEL,
            "folder": "world",
            "pages": [
                {
                    "id": "castle",
                    "uid": "3d0f5b8a-6c1e-5a47-9b2d-8e7f6a5c4b31",
                    "path": "places/castle.md",
                    "title": "The castle",
                    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "links": [{"fault": "missing", "target": "places/vault.md", "line": 12}],
                }
            ],
            "next": None,
        }
    )

    context: str
    folder: str
    pages: tuple[KnownPage, ...]
    next: str | None = Field(None, description="Give it as `after` for more; null: this was the last page")
