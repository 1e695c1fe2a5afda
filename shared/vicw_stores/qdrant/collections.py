"""QdrantCollections: one collection per model, and the alias of the collection in use."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import (
    AliasOperations,
    CollectionInfo,
    CreateAlias,
    CreateAliasOperation,
    DeleteAlias,
    DeleteAliasOperation,
    Modifier,
)

from vicw_shared.errors import MissingRecordError, ModelMismatchError, SettingsError, StateConflictError
from vicw_shared.ports import ModelIdentity
from vicw_shared.telemetry.engines import measured
from vicw_stores.qdrant.errors import translated
from vicw_stores.qdrant.layout import DENSE, SPARSE, dense_params, indexes, sparse_params, strict_mode


@dataclass(frozen=True, slots=True)
class VectorCollection:
    """A collection of VICW. ``points`` is its approximate size; ``current``: the alias points at it."""

    name: str
    model: ModelIdentity
    points: int
    current: bool


async def _ignore(_: ModelIdentity) -> None:
    """Do nothing."""


@measured("qdrant")
class QdrantCollections:
    """Creates, finds, swaps and drops the collections of one alias. The caller owns the client."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        alias: str,
        *,
        before_create: Callable[[ModelIdentity], Awaitable[None]] = _ignore,
    ) -> None:
        """``before_create`` is awaited whenever a model's collection is missing; if it raises, nothing is created."""
        self._client = client
        self._alias = alias
        self._before_create = before_create

    def name_of(self, model: ModelIdentity) -> str:
        """Return the name of a model's collection; unique per model and wrapper version."""
        return f"{self._alias}-{model.key}"

    async def open(self, model: ModelIdentity) -> VectorCollection:
        """Return the collection in use, with all its indexes; on an empty server, create it for ``model``.

        A service that embeds with ``model`` should use the ``name`` returned, not the alias: it then never searches
        another model's vectors, even while the alias is swapped. Raises ModelMismatchError if the collection in use is
        another model's, SettingsError if the alias points at a foreign collection.
        """
        current = await self.current()
        if current is None:
            name = await self.ensure(model)
            current = await self.current() or await self._claim_alias(name)
        if current.model != model:
            raise ModelMismatchError(
                f"The vectors behind {self._alias!r} were made by {current.model}, the embedder is {model}. "
                "Go back to that model, or run `vicw reindex --platform --model NAME`: it embeds everything anew into "
                "a collection of its own and swaps the alias"
            )
        await self.ensure(model)
        return current

    async def ensure(self, model: ModelIdentity) -> str:
        """Create the model's collection and its indexes as far as they are missing; return its name.

        A collection of an earlier program ceases to multiply by an IDF of its own.

        Any number of processes may do this at once.
        """
        name = self.name_of(model)
        with translated():
            if not await self._client.collection_exists(name):
                await self._before_create(model)
                await self._create(name, model)
            collection = await self._client.get_collection(name)
            schema = collection.payload_schema
            if _weighs_terms(collection):
                await self._client.update_collection(name, sparse_vectors_config={SPARSE: sparse_params()})
            missing = [(field, index) for field, index in indexes().items() if field not in schema]
            # Several processes may create the same index: creating it twice has no effect.
            await asyncio.gather(*(self._client.create_payload_index(name, f, i, wait=True) for f, i in missing))
        return name

    async def current(self) -> VectorCollection | None:
        """Return the collection that the alias points at, if it exists.

        Raises SettingsError if it is not one of VICW's.
        """
        name = await self._target()
        if name is None:
            return None
        with translated():
            collection = self._describe(name, await self._client.get_collection(name), current=True)
        if collection is None:
            raise SettingsError(f"VICW_QDRANT_ALIAS {self._alias!r} names a collection that VICW did not make: {name}")
        return collection

    async def all(self) -> list[VectorCollection]:
        """Return all collections made for this alias, by name."""
        target = await self._target()
        with translated():
            names = sorted(each.name for each in (await self._client.get_collections()).collections)
            collections = [
                self._describe(name, await self._client.get_collection(name), current=name == target)
                for name in names
                if name.startswith(f"{self._alias}-")
            ]
        return [each for each in collections if each is not None]

    async def swap(self, name: str) -> None:
        """Point the alias at another of its collections. The swap is atomic: each search sees one of the two.

        Raises MissingRecordError if VICW has no such collection.
        """
        await self._find(name)
        await self._point_at(name)

    async def drop(self, name: str) -> None:
        """Remove a collection and its vectors. Raises StateConflictError for the one in use, or MissingRecordError."""
        if (await self._find(name)).current:
            raise StateConflictError(f"The collection {name} is in use: swap the alias first")
        with translated():
            await self._client.delete_collection(name)

    async def _create(self, name: str, model: ModelIdentity) -> None:
        try:
            await self._client.create_collection(
                name,
                vectors_config={DENSE: dense_params(model.size)},
                sparse_vectors_config={SPARSE: sparse_params()},
                on_disk_payload=True,
                strict_mode_config=strict_mode(),
                metadata={"alias": self._alias, "model": dataclasses.asdict(model)},
            )
        except Exception:
            # Another process may have created it first; its collection is the same.
            if not await self._client.collection_exists(name):
                raise

    async def _claim_alias(self, name: str) -> VectorCollection:
        """Point an unused alias at a collection; return the collection in use then."""
        await self._point_at(name)
        current = await self.current()
        assert current is not None
        return current

    async def _point_at(self, name: str) -> None:
        make = CreateAliasOperation(create_alias=CreateAlias(collection_name=name, alias_name=self._alias))
        operations: list[AliasOperations] = [make]
        if await self._target() is not None:
            operations.insert(0, DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=self._alias)))
        with translated():
            await self._client.update_collection_aliases(operations)

    async def _target(self) -> str | None:
        with translated():
            aliases = (await self._client.get_aliases()).aliases
        return next((alias.collection_name for alias in aliases if alias.alias_name == self._alias), None)

    async def _find(self, name: str) -> VectorCollection:
        for each in await self.all():
            if each.name == name:
                return each
        raise MissingRecordError(f"There is no collection {name} of {self._alias}")

    def _describe(self, name: str, info: CollectionInfo, *, current: bool) -> VectorCollection | None:
        """Return a collection's description; None if it is not one of VICW's."""
        metadata = info.config.metadata or {}
        if metadata.get("alias") != self._alias:
            return None
        return VectorCollection(name, ModelIdentity(**metadata["model"]), info.points_count or 0, current)


def _weighs_terms(collection: CollectionInfo) -> bool:
    sparse = (collection.config.params.sparse_vectors or {}).get(SPARSE)
    return sparse is not None and sparse.modifier is Modifier.IDF
