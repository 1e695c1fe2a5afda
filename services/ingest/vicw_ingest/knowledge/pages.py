"""Parse the items that are pages of a knowledge folder, and build the items to store for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from vicw_core.code.languages import languages_of_path
from vicw_core.markdown.front_matter import FrontMatter, Property, front_matter
from vicw_core.markdown.links import LinkKind, PageLink
from vicw_core.markdown.note import Note, read_note
from vicw_core.markdown.note_titles import MARKDOWN_SUFFIXES, is_markdown, note_title
from vicw_core.markdown.outline import Heading, outline
from vicw_ingest.knowledge.subjects import NOTHING, Subjects, subjects_of
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.model.knowledge import FILE, PAGE
from vicw_shared.settings import LimitSettings
from vicw_shared.text import fold_case, lines_of, visible
from vicw_shared.wire.ingest import IngestRequest, Item

_IMPORTS = "imports"
_PROSE = MARKDOWN_SUFFIXES | {".txt", ".rst", ".adoc", ".org", ""}
INDEXES = frozenset({"readme", "index", "_index"})
_ENTRIES = frozenset({"main", "__main__", "app", "cli", "manage", "server"})
_FORBIDDEN_FIELDS = ("subtype", "speaker", "user", "timestamp", "flow_id", "flow_step", "source")


@dataclass(frozen=True, slots=True)
class KnowledgePage:
    """A page or code file of a knowledge folder.

    ``body`` is its text without front matter, ``sha256`` the digest of the whole text. ``key`` is the id from its front
    matter, ``slug`` the address. Offsets of headings refer to the body, lines of links to the file.
    """

    folder: str
    path: str
    kind: str
    title: str
    body: str
    sha256: str
    key: str | None = None
    slug: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: dict[str, Property] = field(default_factory=dict)
    written_at: datetime | None = None
    summary: str | None = None
    headings: tuple[Heading, ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
    links: tuple[PageLink, ...] = ()
    subjects: Subjects = NOTHING

    @property
    def parent(self) -> str:
        """Path of its parent folder; empty for the knowledge folder itself."""
        return "/".join(self.path.split("/")[:-1])

    @property
    def is_index(self) -> bool:
        """Whether it is the index page of its folder: README, index."""
        return self.kind == PAGE and stem_of(self.path) in INDEXES

    @property
    def is_entry(self) -> bool:
        """Whether it is an entry point for readers or for a program."""
        return (self.is_index and not self.parent) or (self.kind == FILE and stem_of(self.path) in _ENTRIES)


def stem_of(path: str) -> str:
    """Return a file's case-folded name without its suffix."""
    return fold_case(PurePosixPath(path).stem)


def parse_pages(request: IngestRequest, limits: LimitSettings) -> tuple[IngestRequest, dict[int, KnowledgePage]]:
    """Return the request with its page items replaced by the items to store, and the pages by item index.

    Raises InvalidInputError for pages with fields that pages may not have, pages over a limit, and repeated ids.
    """
    pages: dict[int, KnowledgePage] = {}
    items = list(request.items)
    problems = [problem for n, item in enumerate(items) for problem in _problems(n, item, request)]
    if problems:
        raise InvalidInputError(*problems[:20])
    ids: dict[str | None, int] = {}
    for number, item in enumerate(items):
        if item.page is not None:
            page = pages[number] = _page(item, item.page.folder, item.page.path)
            problems += _limit_problems(number, page, limits)
            items[number] = _stored(item, page, limits)
        if (key := items[number].id) is not None and ids.setdefault(key, number) != number:
            fix = "Give each item of a request an id of its own"
            problems.append(FieldProblem(f"items[{number}].id", f"is also that of items[{ids[key]}]", fix))
    if problems:
        raise InvalidInputError(*problems[:20])
    return request.model_copy(update={"items": tuple(items)}), pages


def _problems(number: int, item: Item, request: IngestRequest) -> Iterator[FieldProblem]:
    if item.page is None:
        return
    for name in _FORBIDDEN_FIELDS:
        if getattr(item, name) is not None:
            yield FieldProblem(f"items[{number}].{name}", "is given although the item is a page", "Leave it out")
    if request.flow_id is not None:
        yield FieldProblem("flow_id", "is given although there are pages", "Send pages in a request of their own")


def _limit_problems(number: int, page: KnowledgePage, limits: LimitSettings) -> Iterator[FieldProblem]:
    for what, count, limit, setting in (
        ("headings", len(page.headings), limits.page_headings, "VICW_MAX_PAGE_HEADINGS"),
        ("links", len(page.links), limits.page_links, "VICW_MAX_PAGE_LINKS"),
    ):
        if count > limit:
            fix = f"Cut the page into several, or raise {setting}"
            yield FieldProblem(f"items[{number}].text", f"has {count} {what}, over the limit of {limit}", fix)


def _stored(item: Item, page: KnowledgePage, limits: LimitSettings) -> Item:
    return item.model_copy(
        update={
            "id": item.id or f"{page.folder}/{page.path}",
            "text": page.body,
            "name": page.title[: limits.name_chars],
            "subtype": page.kind,
            "source": page.path,
            "timestamp": page.written_at,
            "metadata": {**page.properties, **item.metadata},
            "tags": tuple(dict.fromkeys((*item.tags, *page.tags)))[: limits.tags],
        }
    )


def _page(item: Item, folder: str, path: str) -> KnowledgePage:
    kind = PAGE if PurePosixPath(path).suffix.lower() in _PROSE and not languages_of_path(path) else FILE
    digest = hashlib.sha256(item.text.encode()).hexdigest()
    if kind == FILE:
        subjects = subjects_of(item.name or "", (), (), path, "")
        return KnowledgePage(folder, path, kind, item.name or path, item.text, digest, subjects=subjects)
    note = _note(item.text, path)
    front, body = note.front, note.body if visible(note.body) else item.text
    parsed = outline(body) if is_markdown(path) else outline("")
    title = item.name or front.title or _first_title(parsed.headings) or _title_of_path(folder, path)
    return KnowledgePage(
        folder,
        path,
        kind,
        title,
        body,
        digest,
        key=front.key,
        slug=_slug(front),
        aliases=front.aliases,
        tags=note.tags_of(body) if is_markdown(path) else front.tags,
        properties=note.properties_of(body) if is_markdown(path) else front.properties,
        written_at=note.written_at(UTC),
        summary=front.description or parsed.summary,
        headings=parsed.headings,
        blocks=parsed.blocks,
        links=tuple(PageLink(link.kind, link.target, link.line + note.lines, link.heading) for link in parsed.links),
        subjects=subjects_of(title, front.aliases, (front.key,) if front.key else (), path, body),
    )


def _slug(front: FrontMatter) -> str | None:
    """Return the address that a page gives itself, as Docusaurus and Hugo read it."""
    slug = front.properties.get("slug")
    return slug if isinstance(slug, str) else None


def _note(text: str, path: str) -> Note:
    """Return a page as a note; other text than Markdown may have front matter, and has no other marks."""
    if is_markdown(path):
        return read_note(text, path)
    front = front_matter(text)
    return Note(front.title or "", "".join(lines_of(text)[front.lines :]), front.lines, front, written=front.time)


def _first_title(headings: tuple[Heading, ...]) -> str | None:
    return headings[0].title if headings and headings[0].level == 1 else None


def _title_of_path(folder: str, path: str) -> str:
    """Return a title for a page without one: the name of its file, for an index page that of its folder."""
    file_path = PurePosixPath(path)
    return (file_path.parent.name or folder) if stem_of(path) in INDEXES else note_title(path)


def with_import_links(page: KnowledgePage, extraction: TextExtraction) -> tuple[KnowledgePage, TextExtraction]:
    """Return the page with the imports of its code as links, and its extraction without these.

    The extraction of a prose page loses the paths that the page links to: they are resolved when the page is written.
    """
    if page.kind != FILE:
        linked_paths = " ".join(link.target for link in page.links)
        paths = {entity.key for entity in extraction.entities if entity.kind == FILE and entity.name in linked_paths}
        entities = [entity for entity in extraction.entities if entity.key not in paths]
        relations = [link for link in extraction.relations if paths.isdisjoint((link.source, link.target))]
        return page, replace(extraction, entities=entities, relations=relations)
    ends = {link.target for link in extraction.relations if link.type == "DEPENDS_ON" and link.desc == _IMPORTS}
    relations = [link for link in extraction.relations if link.target not in ends]
    modules = [entity for entity in extraction.entities if entity.key in ends]
    entities = [entity for entity in extraction.entities if entity.key not in ends]
    links = (
        PageLink(LinkKind.IMPORT, f"/{entity.name}" if entity.kind == FILE else entity.name, 0) for entity in modules
    )
    page = replace(page, links=tuple(dict.fromkeys((*page.links, *links))))
    return page, replace(extraction, entities=entities, relations=relations)
