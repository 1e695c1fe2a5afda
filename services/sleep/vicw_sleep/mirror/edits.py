"""What a person has changed in the mirror, as proposals: nothing of it is stored by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from vicw_shared.errors import NotFoundError
from vicw_shared.finishing import in_thread
from vicw_sleep.mirror.atoms import Atom, atom_of
from vicw_sleep.mirror.comparing import Step, steps_of
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_sleep.mirror.leaving import EDITS, edited_in, page_of
from vicw_sleep.mirror.ledger import Ledger
from vicw_sleep.mirror.mirroring import Mirror
from vicw_sleep.mirror.rendering import RULE, Page, parts_of, section_of, text_in

_OUTSIDE = "changed outside of the texts: what stands there is made anew"
_NO_BASE = "it cannot be told what was changed: the store has other atoms here by now"
_NO_TEXT = "it is no UTF-8: save it as that, or the edit is lost"
_NEW = "an atom was put in behind it: `vicw ingest` stores new ones"
_ACROSS = "changed across its ends: edit only what stands below its line of facts"


@dataclass(frozen=True, slots=True)
class Edit:
    """A text as it was shown and as it was edited; or, without an ``atom``, a page and what is the matter with it.

    ``aside``: the page was written anew since, and the edit kept beside; compare before you take it.
    """

    page: str
    aside: bool
    problem: str = ""
    atom: Atom | None = None
    after: str = ""


async def edits_of(mirror: Mirror) -> list[Edit]:
    """Return what was edited since pages were written, page by page.

    Raises NotFoundError where there is no mirror, SettingsError where there is something else than this one.
    """
    folder = MirrorFolder(mirror.path)
    with folder.translated():
        if folder.require_ours(await mirror.marker()) is None:
            raise NotFoundError(f"There is no mirror at {mirror.path}: `vicw mirror build` makes it")
        with closing(Ledger(folder.path, reading=True)) as ledger:
            changed = await in_thread(_changed, folder, ledger)
            return [edit for name, aside, text in changed for edit in await _edits(mirror, ledger, name, aside, text)]


def _changed(folder: MirrorFolder, ledger: Ledger) -> list[tuple[str, bool, bytes]]:
    """Return the pages that are not what was written, and the edits that were kept aside: path, aside, text."""
    found = [(path, False, current) for path, current in edited_in(folder.path, ledger, folder.read)]
    aside = folder.path / EDITS
    for file in sorted(aside.rglob("*.md")):
        found.append((file.relative_to(aside).as_posix(), True, file.read_bytes()))
    return found


async def _edits(mirror: Mirror, ledger: Ledger, path: str, aside: bool, content: bytes) -> list[Edit]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return [Edit(path, aside, _NO_TEXT)]
    page = ledger.page(page_of(path) if aside else path)
    if page is None:
        return [Edit(path, aside, _NO_BASE if aside else _OUTSIDE)]
    whole = await mirror.graph.whole(mirror.tenant, [uid for _, _, uid in page.places])
    atoms = {atom.item.uid: atom for atom in map(atom_of, whole) if atom is not None}
    return _compared(page, atoms, path, aside, text.replace("\r\n", "\n"), ledger.sha256(page.path))


def _compared(page: Page, atoms: dict[str, Atom], path: str, aside: bool, text: str, known: bytes | None) -> list[Edit]:
    sections = {uid: section_of(atom) for uid, atom in atoms.items()}
    parts = parts_of(page, sections)
    base = RULE.join(part for _, part in parts) + "\n"
    if not aside and hashlib.sha256(base.encode()).digest() != known:
        return [Edit(path, aside, _NO_BASE)]
    lines, new = base.split("\n"), text.split("\n")
    steps = steps_of(lines, new)
    found: list[Edit] = []
    start, told = 0, set[int]()
    for uid, part in parts:
        if uid is not None:
            first = start + sections[uid].head.count("\n") + 2
            last = first + sections[uid].body.count("\n") + 1
            mine = [n for n, (i, j, _, _) in enumerate(steps) if i <= last and j >= first and _meets(i, j, first, last)]
            told.update(mine)
            if mine:
                found.append(
                    _edit(path, aside, atoms[uid], lines[first:last], new, [steps[n] for n in mine], first, last)
                )
        start += part.count("\n") + RULE.count("\n")
    if len(told) < len(steps):
        found.append(Edit(path, aside, _OUTSIDE))
    return found


def _meets(i: int, j: int, first: int, last: int) -> bool:
    """Tell whether a change of lines [i, j) is one of the body [first, last); what is put in at its ends is."""
    return i < last and j > first if i < j else first <= i <= last


def _edit(
    path: str,
    aside: bool,
    atom: Atom,
    body: Sequence[str],
    new: Sequence[str],
    steps: Sequence[Step],
    first: int,
    last: int,
) -> Edit:
    if any(i < first or j > last for i, j, _, _ in steps):
        return Edit(path, aside, f"[{atom.id}] {_ACROSS}")
    added = [line for _, _, k, end in steps for line in new[k:end]]
    if RULE.strip() in added and any(line.startswith("## [") for line in added):  # in a text either has a backslash
        return Edit(path, aside, f"[{atom.id}] {_NEW}")
    after: list[str] = []
    done = first
    for i, j, k, end in steps:
        after += [*body[done - first : i - first], *new[k:end]]
        done = j
    after += body[done - first :]
    return Edit(path, aside, atom=atom, after=text_in(atom, "\n".join(after)))
