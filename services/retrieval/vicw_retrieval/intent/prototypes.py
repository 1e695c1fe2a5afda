"""Example phrases of the tasks, embedded once a model: what a question is for when no word of a rule tells.

They are embedded behind the first question, in the lane of bulk; until then, and without an embedder, rules are all
there is.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import numpy as np
import structlog
from numpy.typing import NDArray

from vicw_shared.errors import VicwError
from vicw_shared.ports import Embedder, Lane
from vicw_shared.wire.retrieve import Task

_log = structlog.get_logger()
_AGAIN_SECONDS = 60.0

PHRASES: dict[Task | None, tuple[str, ...]] = {
    Task.UNDERSTAND: (
        "how does the authentication flow work?",
        "explain the architecture of the payment service",
        "give me an overview of the sync engine",
        "what does this function do?",
        "how are these two modules connected?",
        "describe how requests are handled from start to end",
    ),
    Task.FIND_SPEC: (
        "what are the requirements for password length?",
        "where is the specification of the message format?",
        "which fields are mandatory in the order request?",
        "what does the API contract say about pagination?",
        "what is the maximum size of an upload according to the design document?",
        "what should happen when a user is deleted?",
    ),
    Task.FIX_BUG: (
        "why is the server throwing a 500 error?",
        "the login page crashes after the update",
        "the test fails with a null pointer exception",
        "memory grows until the worker is killed",
        "users see the wrong total in their cart",
        "it stopped working since yesterday's release",
    ),
    Task.FIND_DECISION: (
        "why did we choose PostgreSQL over MongoDB?",
        "what did the team agree on for the release date?",
        "which alternatives were considered and rejected?",
        "what was the rationale for splitting the service?",
        "who approved the move to the new provider?",
        "what was the outcome of the discussion about licences?",
    ),
    Task.ADD_FEATURE: (
        "add support for dark mode",
        "how can I implement an export to CSV?",
        "I want to create a new endpoint for invoices",
        "we need a way for users to reset their password",
        "build a notification system",
        "extend the importer to read another format",
    ),
    Task.REFACTOR: (
        "how can we simplify this class?",
        "split the large module into smaller ones",
        "remove the duplicated validation logic",
        "rename the helper and move it to another package",
        "clean up the legacy code of the scheduler",
        "reduce the coupling between the layers",
    ),
    None: (
        "what did Ana eat on Friday?",
        "who wrote the novel about the lighthouse?",
        "when did they move to the city?",
        "what happened to the princess after the ball?",
        "how many brothers did the miller have?",
        "which film was released first?",
        "where was the composer of the opera born?",
        "what is my sister's favourite colour?",
        "sort a list of strings in python",
        "convert a date to a string",
    ),
}
"""Our own; those of None are questions that are for none of the tasks."""


@dataclass(slots=True)
class Prototypes:
    """The phrases' vectors of the model in use. One for all requests of a process."""

    _of: Embedder | None = None
    _vectors: NDArray[np.float32] | None = None
    _making: asyncio.Task[None] | None = None
    _failed_at: float = field(default=float("-inf"))

    def similarities(self, vector: NDArray[np.float32], embedder: Embedder, prefix: str) -> dict[Task | None, float]:
        """Return the cosine, in [-1, 1], of each task's phrase that is most like the question; {} while none is known.

        What is not known is made in the background, from the questions' own event loop.
        """
        if self._of is not embedder:
            self._of, self._vectors, self._failed_at = embedder, None, float("-inf")
        if self._vectors is None:
            self._begin(embedder, prefix)
            return {}
        cosines = self._vectors @ vector
        best: dict[Task | None, float] = {}
        for task, cosine in zip(_TASKS, cosines.tolist(), strict=True):
            best[task] = max(best.get(task, -1.0), cosine)
        return best

    def _begin(self, embedder: Embedder, prefix: str) -> None:
        busy = self._making is not None and not self._making.done()
        if not busy and time.monotonic() - self._failed_at >= _AGAIN_SECONDS:
            self._making = asyncio.create_task(self._make(embedder, prefix))

    async def _make(self, embedder: Embedder, prefix: str) -> None:
        try:
            rows = await embedder.embed(
                [prefix + phrase for phrases in PHRASES.values() for phrase in phrases], Lane.BULK
            )
        except VicwError as error:
            self._failed_at = time.monotonic()
            _log.warning("tasks are told by rules alone", error=str(error))
            return
        if self._of is embedder:
            self._vectors = rows

    async def made(self) -> None:
        """Return when nothing is being made."""
        if self._making is not None:
            await asyncio.wait([self._making])

    async def close(self) -> None:
        """End what is being made. Safe to call twice."""
        if self._making is not None:
            self._making.cancel()
        await self.made()


_TASKS = tuple(task for task, phrases in PHRASES.items() for _ in phrases)
