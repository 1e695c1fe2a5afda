"""Ids for items that have none, so that the same upload again stores nothing twice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from vicw_readers.records import Record, SourceItem

_DIGITS = 32


def identified(records: Iterable[Record]) -> Iterator[Record]:
    """Pass records on, each item with an id: without one, it is made of all that the item says.

    Items that say the same are numbered in order of arrival: each of them was said.
    """
    copies: Counter[int] = Counter()  # numbers: a million ids must not cost a gigabyte
    for record in records:
        if not isinstance(record, SourceItem) or record.item.id is not None:
            yield record
            continue
        said = f"{record.context}\0{record.domain}\0{record.item.model_dump_json(exclude_unset=True)}"
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        copies[number := int(digest, 16)] += 1
        suffix = f"-{copies[number]}" if copies[number] > 1 else ""
        item = record.item.model_copy(update={"id": f"import-{digest}{suffix}"})
        yield replace(record, item=item)
