"""What commands ask of the client of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # every command imports the module that names this one
    from vicw_shared.model.keys import Right
    from vicw_shared.wire.forget import EraseRequest, Erasure
    from vicw_shared.wire.keys import Key, Keys, MadeKey
    from vicw_shared.wire.sleep import CheckState, SleepRunStarted, SleepState, SleepStep


class RemoteMemory(Protocol):
    """A server at an address, by its public API."""

    def forget(self, request: EraseRequest, /) -> Erasure:
        """Begin to erase, or say what would go."""
        ...

    def erasure(self, uid: str) -> Erasure:
        """Return the progress and the proof of an erasure."""
        ...

    def keys(self) -> Keys:
        """Return the tenant's keys."""
        ...

    def create_key(self, *rights: Right, note: str = "") -> MadeKey:
        """Make a key."""
        ...

    def revoke_key(self, key_id: str) -> Key:
        """Revoke a key."""
        ...

    def check(self) -> CheckState:
        """Return what the last comparison of the two stores found."""
        ...

    def sleep(self, **fields: Any) -> SleepState:
        """Return the jobs of the sleep cycle, and a page of its steps."""
        ...

    def undo(self, step: str) -> SleepStep:
        """Undo a step."""
        ...

    def run_job(self, job: str) -> SleepRunStarted:
        """Have a job run."""
        ...
