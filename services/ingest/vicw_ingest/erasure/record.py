"""Durable notes of an erasure: uids until the graph is empty, then only hashes."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import methodcaller

from vicw_core.feedback import ItemFeedback, without_judgements
from vicw_ingest.erasure.fingerprints import Fingerprints, creation_uid, new_key
from vicw_ingest.plan.drafts import CUT
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LEDGER, SYSTEM_VERSION
from vicw_shared.model.erased_steps import flow_key
from vicw_shared.ports import ErasurePart, Erasures, MaintenanceStep, Store
from vicw_shared.ports.sleep import FEEDBACK
from vicw_shared.uids import context_uid, is_uid, named_uid

ITEMS, ROOTS, PEOPLE, ALL, PARTIAL, KEY = "items", "roots", "people", "everything", "scattered", "key"
"""Keys of the first note: what to erase."""
ERASED_UIDS, FLOWS, FINGERPRINTS = "gone", "flows", "marks"
"""Keys of the other notes: what was erased."""
COPIES = "copies"
"""Key of a note's folders to be searched for copies."""
_NUMBER_BITS = 48
_PACKING_CHARS = 128
"""Length of a ledger's start that is ignored: it encodes the packing, and other ledgers may start alike."""
_TIMES = frozenset({"told", "at"})
"""Metadata of events that are times, not words of a text."""
_TAGS, _RELATED = "tags", "related"
"""Keys in the details of a dream's step: the tags that it added, by name, and the items that it joined, by uid."""
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def fingerprints_of(graph: Erasures, erasure: str) -> Fingerprints:
    """Return the fingerprints of a sealed erasure, to find remains by. Empty if another process has ended it."""
    notes = [note for note in await graph.erasures() if note.erasure == erasure]
    if not notes:
        return Fingerprints(new_key(), set())
    parts = [Fingerprints.load(value) for note in notes if isinstance(value := note.body.get(FINGERPRINTS), Mapping)]
    key = int(str(notes[0].body[KEY]), 16)
    return Fingerprints(key, {mark for part in parts for mark in part.marks})


async def record_copies(graph: Store, erasure: str, folders: Sequence[str]) -> None:
    """Note folders of copies (absolute paths), so that any process that continues the erasure searches them.

    Each call writes a separate note, so that concurrent calls lose none. An ended erasure gets no note.
    """
    notes = [note for note in await graph.erasures.erasures() if note.erasure == erasure]
    fresh = sorted({*folders} - merged_list(notes, COPIES))
    if notes and fresh:
        note = replace(notes[0], number=1 + secrets.randbits(_NUMBER_BITS), body={COPIES: fresh})
        await graph.write(note.tenant, "", methodcaller("record_erasure", note))


async def copies_of(graph: Erasures, erasures: Collection[str]) -> list[str]:
    """Return the folders of copies that are noted for these erasures."""
    return sorted(merged_list([note for note in await graph.erasures() if note.erasure in erasures], COPIES))


def batch_record(first: ErasurePart, erased: Sequence[Node], key: int) -> ErasurePart:
    """Return the note of a batch: uids of the erased nodes, hashes of their flows and texts.

    Its number is random, so that two processes that erase the same never write the same note.
    """
    marks = Fingerprints(key)
    for text in {text for node in erased for text in texts_of(node)}:
        marks.add_text(text)
    for node in erased:
        marks.add_uid(creation_uid(node))
    flows = {flow_key(n.tenant, n.context, n.flow_id) for n in erased if n.flow_id is not None}
    body = {ERASED_UIDS: [node.uid for node in erased], FLOWS: sorted(flows), FINGERPRINTS: marks.dump()}
    return replace(first, number=1 + secrets.randbits(_NUMBER_BITS), body=body)


def texts_of(node: Node) -> set[str]:
    """Return the texts of a node that come from callers.

    A Macro-Event has none of its own: its text repeats its items, which are restored unless they are erased themselves.
    The ellipsis of a shortened name and the times of extracted events are VICW's own, and the same in other nodes.
    """
    if node.version == SYSTEM_VERSION:
        return set()
    own = [node.text, node.name.removesuffix(CUT), node.title, *node.aliases, *node.tags, *node.trigger_phrases]
    own += [node.source_id] if node.content_hash is not None else []
    own_fields = _TIMES if node.label is Label.EVENT and node.content_hash is None else frozenset()
    own += _values({name: value for name, value in node.metadata.items() if name not in {*own_fields, LEDGER}})
    own += [str(node.metadata.get(LEDGER, ""))[_PACKING_CHARS:]]
    return {text for text in own if text and not is_uid(text)}


def _values(value: object) -> Iterable[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for part in value.values():
                yield from _values(part)
        case list() | tuple():
            for part in value:
                yield from _values(part)


def sealed_note(note: ErasurePart) -> ErasurePart:
    """Return the note with hashes in place of uids."""
    dumped = note.body[FINGERPRINTS]
    assert isinstance(dumped, Mapping)
    marks = Fingerprints.load(dumped)
    for uid in merged_list([note], ERASED_UIDS):
        marks.add_uid(uid)
    return replace(note, body={KEY: f"{marks.key:x}", FINGERPRINTS: marks.dump()})


def mentions_erased(step: MaintenanceStep, erased: set[str], flows: set[str], existing: Mapping[str, Node]) -> bool:
    """Return whether a log step may mention erased nodes. ``existing`` has the subjects of steps that exist."""
    if step.subject in erased or context_uid(step.tenant, step.context) in erased:
        return True
    text = json.dumps([step.reason, step.details])
    flow = flow_key(step.tenant, step.context, str(step.details.get("flow")))
    return not erased.isdisjoint(UID.findall(text)) or (flow in flows and step.subject not in existing)


def redacted_step(
    step: MaintenanceStep, erased: set[str], names_erased: Callable[[str], bool] = lambda text: False
) -> MaintenanceStep:
    """Return a step without the erased ones among the tags and items that its dream added.

    Of an item's feedback, without what erased people gave, and without the questions that name something erased.
    """
    if step.task == FEEDBACK:
        latest = ItemFeedback.of(step).latest
        gone = [one for one in latest if not erased.isdisjoint(one.people) or names_erased(one.query)]
        return without_judgements(step, gone)
    tags, related = (recorded_uids(step.details.get(name)) for name in (_TAGS, _RELATED))
    remaining = {
        _TAGS: [tag for tag in tags if named_uid(step.tenant, step.context, "tag", str(tag)) not in erased],
        _RELATED: [uid for uid in related if uid not in erased],
    }
    return (
        step if remaining == {_TAGS: tags, _RELATED: related} else replace(step, details={**step.details, **remaining})
    )


def merged_list(notes: Sequence[ErasurePart], name: str) -> set[str]:
    """Return the union of the lists that notes have under ``name``."""
    return {str(one) for note in notes for one in recorded_uids(note.body.get(name))}


def recorded_uids(value: object) -> list[object]:
    """Return ``value`` if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
