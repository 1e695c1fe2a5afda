"""Render the mirror's pages as Markdown for Obsidian. Pure functions of their input.

Links use the page's unique name alone (``[[name]]``): Obsidian takes ``#`` in a path for a heading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vicw_shared.clock import format_minute, from_us
from vicw_shared.model import Sensitivity
from vicw_sleep.mirror.atoms import Atom, Bundle, MirroredSource, Place, Shelf
from vicw_sleep.mirror.file_names import UNTAGGED, digest, slug
from vicw_sleep.mirror.markdown_escape import fenced, in_line, label, shown

ROOT = "vicw-mirror"
"""Name of the start page."""
RULE = "\n\n---\n\n"
"""Separator of two atoms."""
_ID_CHARS = 80
_slug = lru_cache(maxsize=10_000)(slug)


@dataclass(frozen=True, slots=True)
class MirrorPage:
    """A page of a bundle: its atoms, and the names of the pages before and after it."""

    bundle: Bundle
    name: str
    places: Sequence[Place]
    earlier: str | None = None
    later: str | None = None

    @property
    def path(self) -> str:
        """Its path in the mirror."""
        return f"{folder_of(self.bundle.shelf)}/{self.name}.md"


def folder_of(shelf: Shelf) -> str:
    """Return the folder of a bucket and a tag: ``@bucket/#tag``."""
    return f"@{_slug(shelf.bucket)}/#{_slug(shelf.tag) if shelf.tag else UNTAGGED}"


def shelf_page(shelf: Shelf) -> str:
    """Return the name of the index page of a bucket and a tag."""
    return f"{_slug(shelf.tag) if shelf.tag else UNTAGGED}_{_digest('shelf', shelf.bucket, shelf.tag)}"


def bucket_page(bucket: str) -> str:
    """Return the name of the index page of a bucket's tags."""
    return f"{_slug(bucket)}_{_digest('bucket', bucket)}"


def bucket_path(bucket: str) -> str:
    """Return the path of the index page of a bucket's tags."""
    return f"@{_slug(bucket)}/{bucket_page(bucket)}.md"


def pages_of(bundle: Bundle, cuts: Sequence[Sequence[Place]]) -> list[MirrorPage]:
    """Return the pages of a bundle. The first has the bundle's name; the others add the day and uid of their first
    atom.
    """
    first = f"{_slug(bundle.name)}_{bundle.key}"
    names = [first, *(f"{first}_{from_us(cut[0][0]).date().isoformat()}_{cut[0][2][-12:]}" for cut in cuts[1:])]
    around = zip([None, *names], names, [*names[1:], None], cuts, strict=False)
    return [MirrorPage(bundle, name, cut, earlier, later) for earlier, name, later, cut in around]


def section_of(atom: Atom) -> str:
    """Return the section of an atom, the same on each of its pages: its head, its text, and its sources."""
    item = atom.item
    title = in_line(item.title or atom.text) or "…"
    parts = [_when(atom), item.subtype, item.speaker or "", item.context]
    parts += [] if item.sensitivity is Sensitivity.PUBLIC else [item.sensitivity.value]
    facts = [in_line(fact) for fact in parts if fact] + [
        _link(shelf_page(shelf), _shelf_label(shelf)) for shelf in atom.shelves
    ]
    facts += ["auto-tags: " + in_line(", ".join(atom.auto_tags))] if atom.auto_tags else []
    head = f"## [{in_line(atom.id, _ID_CHARS)}] {title}\n\n{' · '.join(facts)}"
    body = fenced(atom.text) if atom.is_code else shown(atom.text)
    return "\n\n".join([head, body, *map(_proof, atom.proofs)])


def _when(atom: Atom) -> str:
    """Return when it happened; for a Macro-Event, its first and last time."""
    last = format_minute(atom.happened_at)
    first = min((proof.item.timestamp for proof in atom.proofs if proof.item.timestamp), default=None)
    return last if first is None or (began := format_minute(first)) == last else f"{began} to {last}"


def render(page: MirrorPage, sections: Mapping[str, str]) -> str:
    """Return a page. Atoms without a section, which were removed meanwhile, are left out."""
    atoms = [sections[uid] for _, _, uid in page.places if uid in sections]
    return RULE.join(filter(None, [_head(page), *atoms, _page_links(page)])) + "\n"


def render_root(buckets: Sequence[tuple[str, int]], atoms: int) -> str:
    """Return the start page, from each bucket's name and number of tags."""
    lines = [f"- {_link(bucket_page(name), f'@{name}')} · {_count(tags, 'tag')}" for name, tags in buckets]
    return _listing("What is remembered", f"{_count(atoms, 'atom')}. Made by VICW, which reads no edits.", lines)


def render_bucket(bucket: str, shelves: Sequence[tuple[Shelf, int]]) -> str:
    """Return the page of a bucket, from its shelves and their numbers of atoms."""
    lines = [f"- {_link(shelf_page(shelf), _tag_label(shelf))} · {_count(atoms, 'atom')}" for shelf, atoms in shelves]
    return _listing(f"@{bucket}", _link(ROOT, "mirror"), lines)


def render_shelf(shelf: Shelf, bundles: Sequence[tuple[Bundle, int, int]]) -> str:
    """Return the page of a bucket and a tag, from its bundles and their numbers of atoms and pages."""
    lines = []
    for bundle, atoms, pages in bundles:
        first = f"{_slug(bundle.name)}_{bundle.key}"
        more = f" on {pages} pages" if pages > 1 else ""
        lines.append(f"- {_link(first, bundle.name)} · {_count(atoms, 'atom')}{more} · {in_line(bundle.context)}")
    trail = f"{_link(ROOT, 'mirror')} › {_link(bucket_page(shelf.bucket), f'@{shelf.bucket}')}"
    return _listing(f"@{shelf.bucket} {_tag_label(shelf)}", trail, lines)


def _listing(title: str, trail: str, lines: Sequence[str]) -> str:
    return f"# {in_line(title)}\n\n{trail}\n\n" + "".join(f"{line}\n" for line in lines)


def _head(page: MirrorPage) -> str:
    bundle, shelf = page.bundle, page.bundle.shelf
    tag = re.sub(r"[^\w/-]+", "-", shelf.tag).strip("-/")
    matter = {"bucket": shelf.bucket, "tag": shelf.tag, "context": bundle.context, bundle.kind: bundle.source}
    lines = [f"{name}: {_quoted(value)}" for name, value in matter.items()]
    lines += [f"tags: [{_quoted(tag)}]"] if tag else []
    trail = [_link(ROOT, "mirror"), _link(bucket_page(shelf.bucket), f"@{shelf.bucket}")]
    trail.append(_link(shelf_page(shelf), _tag_label(shelf)))
    front = "\n".join(["---", *lines, f"atoms: {len(page.places)}", "---"])
    page_links = _page_links(page)
    return f"{front}\n\n# {in_line(bundle.name)}\n\n{' › '.join(trail)}" + (f"\n\n{page_links}" if page_links else "")


def _page_links(page: MirrorPage) -> str:
    links = [
        f"← {_link(page.earlier, 'earlier')}" if page.earlier else "",
        f"{_link(page.later, 'later')} →" if page.later else "",
    ]
    return " · ".join(filter(None, links))


def _proof(proof: MirroredSource) -> str:
    item = proof.item
    facts = [
        f"\\[{in_line(item.source_id or item.uid, _ID_CHARS)}\\]",
        format_minute(item.timestamp),
        in_line(item.speaker or ""),
    ]
    lines = (f"[!quote]- {' · '.join(filter(None, facts))}", *shown(proof.text).split("\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _shelf_label(shelf: Shelf) -> str:
    return f"@{shelf.bucket} {_tag_label(shelf)}"


def _tag_label(shelf: Shelf) -> str:
    return f"#{shelf.tag}" if shelf.tag else "untagged"


@lru_cache(maxsize=10_000)
def _link(name: str, text: str) -> str:
    return f"[[{name}|{label(text)}]]"


@lru_cache(maxsize=10_000)
def _digest(*parts: str) -> str:
    return digest(*parts)


def _quoted(text: str) -> str:
    """Return text as a YAML string, which is a JSON string. Obsidian turns two brackets into a link even there."""
    printable = "".join(ch if ch.isprintable() else "\ufffd" for ch in text)
    return json.dumps(re.sub(r"\[(?=\[)", "[ ", printable), ensure_ascii=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
