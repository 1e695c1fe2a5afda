"""A made-up set: two domains, told apart by their words."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

CODE = ("parse the header", "open the socket", "close the cursor", "drain the queue")
TALES = ("the witch slept", "the dragon wept", "the miller sang", "the bride vanished")


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_set(folder: Path, texts: Iterable[str], *, domain: str, packed: bool = False) -> Path:
    """Each text is an item, and the question for itself."""
    end = ".jsonl.gz" if packed else ".jsonl"
    place = {"context": "shared", "domain": domain}
    texts = list(texts)
    write_lines(folder / f"items{end}", ({"id": str(n), **place, "text": text} for n, text in enumerate(texts)))
    write_lines(
        folder / f"queries{end}",
        (
            {"id": f"q{n}", **place, "query": text, "relevant": [str(n)], "category": f"c{n % 2}", "more": 1}
            for n, text in enumerate(texts)
        ),
    )
    return folder
