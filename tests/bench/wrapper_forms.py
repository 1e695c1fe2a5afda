"""Forms in which a passage may be embedded, their vectors, and an embedder that gives the product another form."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.wrapper import wrap
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models import model_files
from vicw_shared.ports import Lane, ModelIdentity
from vicw_shared.settings import EmbeddingSettings

type Vectors = NDArray[np.float32]
type Spelling = Callable[["Text"], str]

_BATCH = 256
_HEAD = re.compile(r"(?:\[Domain: (.*?)\] )?(?:\[Type: (.*?)\] )?(?:\[Name: (.*?)\] )?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and what the wrapper says of it."""

    text: str
    domain: str | None = None
    subtype: str | None = None
    name: str | None = None

    @classmethod
    def unwrap(cls, wrapped: str) -> Text:
        """Return the parts of a text that the product wrapped."""
        head = _HEAD.match(wrapped)
        assert head is not None
        return cls(wrapped[head.end() :], *head.groups())


def _natural(text: Text) -> str:
    head = ", ".join(filter(None, [" ".join(filter(None, [text.domain, text.subtype])), text.name]))
    return f"{head}: {text.text}" if head else text.text


SPELLINGS: Mapping[str, Spelling] = {
    "full": lambda text: wrap(text.text, domain=text.domain, subtype=text.subtype, name=text.name),
    "plain": lambda text: text.text,
    "name": lambda text: f"{text.name}: {text.text}" if text.name else text.text,
    "domain": lambda text: wrap(text.text, domain=text.domain),
    "domain name": lambda text: wrap(text.text, domain=text.domain, name=text.name),
    "type name": lambda text: wrap(text.text, subtype=text.subtype, name=text.name),
    "words": _natural,
}
FORMS: Mapping[str, Mapping[str, float]] = {
    **{spelling: {spelling: 1.0} for spelling in SPELLINGS},
    "full .75 plain .25": {"full": 0.75, "plain": 0.25},
    "full .5 plain .5": {"full": 0.5, "plain": 0.5},
    "full .25 plain .75": {"full": 0.25, "plain": 0.75},
    "name .5 plain .5": {"name": 0.5, "plain": 0.5},
    "full .5 name .5": {"full": 0.5, "name": 0.5},
}
"""Forms of texts: spellings by weight. A vector is their weighted mean, of length 1; two cost twice the embedding."""
QUESTIONS: Mapping[str, Mapping[str, float]] = {
    "plain": {"plain": 1.0},
    "domain": {"domain": 1.0},
    "both": {"domain": 0.5, "plain": 0.5},
}
"""Wordings of a question whose domain is known. The product asks with ``domain``, about code with ``both``."""


class VectorCache:
    """Vectors of the default model by text, kept in a file."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._file = model_files.resolve(EmbeddingSettings(), folder)
        self._engine = Engine(self._file, EngineOptions(threads=threads))
        self.identity = ModelIdentity(self._file.card.name, self._file.card.size, self._file.digest, 0)
        self._kept = sqlite3.connect(folder / f"vectors-{self._file.digest[:12]}.sqlite", timeout=60)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID")

    def rows(self, texts: Sequence[str], lane: Lane = Lane.BULK) -> Vectors:
        """Return the vectors of ``texts``, shape (len(texts), size)."""
        keys = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found: dict[bytes, Vectors] = {}
        for part in batched(wanted, 500):
            marks = ",".join("?" * len(part))
            for key, row in self._kept.execute(f"SELECT key, row FROM vectors WHERE key IN ({marks})", part):
                found[key] = np.frombuffer(row, np.float32)
        missing = [key for key in wanted if key not in found]
        for number, part in enumerate(batched(missing, _BATCH)):
            rows = self._engine.submit([wanted[key] for key in part], lane).result().rows
            found |= dict(zip(part, rows, strict=True))
            with self._kept:
                self._kept.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)", [(key, found[key].tobytes()) for key in part]
                )
            if number % 10 == 0 and len(missing) > _BATCH:
                print(f"\r{number * _BATCH:7} of {len(missing)} texts", end="", file=sys.stderr, flush=True)
        return np.stack([found[key] for key in keys])

    def mixed(self, texts: Sequence[Text], form: Mapping[str, float], lane: Lane = Lane.BULK) -> Vectors:
        """Return the weighted means of the spellings' vectors, of length 1."""
        rows = sum(
            weight * self.rows([SPELLINGS[spelling](text) for text in texts], lane) for spelling, weight in form.items()
        )
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def close(self) -> None:
        self._engine.close()
        self._kept.close()


class FormEmbedder:
    """An embedder that takes the product's wrapper off and puts another form on; ``passages`` are passages' texts."""

    def __init__(self, cache: VectorCache, form: str, wording: str, passages: Collection[Text]) -> None:
        self._cache, self._wording, self._passages = cache, QUESTIONS[wording], passages
        self._form, self._statement = forms_of(form)

    async def identity(self) -> ModelIdentity:
        return self._cache.identity

    async def embed(self, texts: Sequence[str], lane: Lane) -> Vectors:
        rows = np.empty((len(texts), self._cache.identity.size), np.float32)
        bare = [Text.unwrap(text) for text in texts]
        forms = [self._wording if lane is Lane.QUERY else self._stored_form(text) for text in bare]
        for form in (self._wording, self._form, self._statement):
            if chosen := [number for number, one in enumerate(forms) if one is form]:
                rows[chosen] = self._cache.mixed([bare[number] for number in chosen], form, lane)
        return rows

    async def close(self) -> None:
        pass

    def _stored_form(self, text: Text) -> Mapping[str, float]:
        return self._form if text in self._passages else self._statement


def forms_of(form: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Return the spellings of passages and of statements: ``a | b`` is form a for passages and b for statements."""
    passages, _, statements = form.partition(" | ")
    return FORMS[passages], FORMS[statements or passages]
