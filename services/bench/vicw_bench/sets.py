"""Fidelity sets: items to remember, and questions with the items that are their evidence.

A set is a folder with ``items.jsonl`` and ``queries.jsonl``, each plain or gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vicw_shared.errors import FixableError
from vicw_shared.text import visible
from vicw_shared.wire.base import Id, Prose, Timestamp
from vicw_shared.wire.ingest import Item

_PLACE = ("context", "domain")


class BenchDataError(FixableError):
    """A set cannot be read; the detail names the file and the line."""


class Question(BaseModel):
    """A question: ``relevant`` are the ids, inside ``context``, of the items that are its evidence."""

    model_config = ConfigDict(frozen=True)  # further fields are a set's own business

    id: Id
    context: Id
    query: Prose
    relevant: frozenset[Id] = Field(min_length=1)
    domain: Prose | None = None
    category: str = ""
    query_time: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """An item and where it belongs."""

    context: str
    domain: str | None
    item: Item


@dataclass(frozen=True, slots=True)
class FidelitySet:
    """A set in file order. ``digest`` is the SHA-256 of its unpacked items, ``blank`` counts those without text."""

    name: str
    items: tuple[Remembered, ...]
    questions: tuple[Question, ...]
    digest: str
    blank: int = 0


def find_sets(folder: Path, names: Sequence[str] | None = None) -> list[Path]:
    """Return the sets in ``folder`` by name, or those of ``names`` in their order; ``folder`` may be a set itself.

    Raises BenchDataError if there is none, or a name is not there.
    """
    files = [*folder.glob("queries.jsonl*"), *sorted(folder.glob("*/queries.jsonl*"))]
    found = {path.parent.resolve().name: path.parent for path in files}
    found = {name: path for name, path in found.items() if any(path.glob("items.jsonl*"))}
    if not found:
        raise BenchDataError(f"{folder} holds no set: a folder with items.jsonl[.gz] and queries.jsonl[.gz]")
    missing = [name for name in names or () if name not in found]
    if missing:
        raise BenchDataError(f"{folder} holds no set {', '.join(missing)}; there are {', '.join(found)}")
    return [found[name] for name in names] if names else list(found.values())


def load_set(folder: Path) -> FidelitySet:
    """Read a set. Items without visible text, which a memory refuses, are left out and counted.

    Raises BenchDataError at the first line that is wrong, or if evidence is not among the items.
    """
    digest = hashlib.sha256()
    read = []
    for place, raw in _lines(folder, "items"):
        digest.update(raw)
        read.append(_item(raw, place))
    items = [entry for entry in read if entry is not None]
    questions = tuple(_question(raw, place) for place, raw in _lines(folder, "queries"))
    known = {(entry.context, entry.item.id) for entry in items}
    if len(known) < len(items):
        raise BenchDataError(f"{folder}: an id occurs twice inside its context")
    for question in questions:
        lost = sorted(wanted for wanted in question.relevant if (question.context, wanted) not in known)
        if lost:
            raise BenchDataError(f"{folder}: question {question.id} rests on {lost[0]!r}, which is no item")
    return FidelitySet(folder.name, tuple(items), questions, digest.hexdigest(), len(read) - len(items))


def pool(sets: Sequence[FidelitySet]) -> FidelitySet:
    """Return one set with all items and questions; contexts that occur in several sets get the set's name.

    >>> pool([]).name
    'pool'
    """
    owners: dict[str, set[str]] = {}
    for part in sets:
        for entry in part.items:
            owners.setdefault(entry.context, set()).add(part.name)

    def place(part: FidelitySet, context: str) -> str:
        return f"{part.name}/{context}" if len(owners.get(context, ())) > 1 else context

    items = [replace(e, context=place(part, e.context)) for part in sets for e in part.items]
    questions = [
        q.model_copy(update={"context": place(part, q.context), "id": f"{part.name}/{q.id}"})
        for part in sets
        for q in part.questions
    ]
    digest = hashlib.sha256("".join(part.digest for part in sets).encode()).hexdigest()
    name = "-".join(["pool", *(part.name for part in sets)])
    return FidelitySet(name, tuple(items), tuple(questions), digest, sum(part.blank for part in sets))


def _lines(folder: Path, stem: str) -> Iterator[tuple[str, bytes]]:
    plain, packed = folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz"
    path = plain if plain.is_file() else packed
    try:
        with path.open("rb") if path is plain else gzip.open(packed) as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    yield f"{path}:{number}", raw
    except (OSError, EOFError) as error:
        raise BenchDataError(f"{path} cannot be read: {error}") from error


def _item(raw: bytes, place: str) -> Remembered | None:
    try:
        fields = json.loads(raw)
        text = fields.get("text")
        if isinstance(text, str) and not visible(text):
            return None
        context, domain = (fields.pop(key, None) for key in _PLACE)
        if not isinstance(context, str) or fields.get("id") is None:
            raise BenchDataError(f"{place}: an item needs an id and a context")
        return Remembered(context, domain, Item.model_validate(fields))
    except (ValueError, AttributeError) as error:
        raise BenchDataError(f"{place}: {_first_line(error)}") from error


def _question(raw: bytes, place: str) -> Question:
    try:
        return Question.model_validate_json(raw)
    except ValidationError as error:
        raise BenchDataError(f"{place}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
