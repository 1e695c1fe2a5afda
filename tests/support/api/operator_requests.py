"""What an intruder with all rights asks of what is a neighbour's: keys, webhooks, erasures, steps, records, numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import strategies as st

from support.processes.server import eventually
from vicw_shared.model.keys import Right
from vicw_standalone.operations import OPERATIONS

ALL_RIGHTS = tuple(word for right in Right for word in ("--right", right.value))
"""Options of ``vicw keys create``."""
WITH_WEBHOOKS = {"VICW_WEBHOOKS_ENABLED": "true", "VICW_WEBHOOKS_ALLOW_PRIVATE": "true"}
"""Settings of servers that take webhooks to ``NOBODY``."""
NOBODY = "http://127.0.0.1:9/in"
"""Where nothing listens."""

KEYS = {"GET /keys", "POST /keys", "DELETE /keys/{key}"}
_OF_A_WEBHOOK = {f"{call} /webhooks/{{webhook}}{part}" for call, part in (("DELETE", ""), ("GET", "/dead"))}
_OF_A_WEBHOOK |= {f"POST /webhooks/{{webhook}}/{change}" for change in ("replay", "secret")}
WEBHOOKS = {"GET /webhooks", "POST /webhooks", *_OF_A_WEBHOOK}
SLEEP, UNDO, RUN, CHECK = "GET /sleep", "POST /sleep/undo", "POST /sleep/run", "GET /check"
FORGET, ERASURE_OF, AUDIT = "POST /forget", "GET /forget/{erasure}", "GET /audit"
ERASURE = {FORGET, ERASURE_OF, AUDIT}
CONSOLIDATE = "POST /admin/sleep/consolidate"
ADMIN = {f"POST /admin/{operation.name}" for operation in OPERATIONS}
OPERATORS = {SLEEP, UNDO, RUN, CHECK, *KEYS, *WEBHOOKS, *ADMIN}
_BODIES: dict[str, dict[str, Any]] = {"sleep/consolidate": {"hours": 0}, "sleep/dream": {"hours": 0}}

type Call = Callable[..., httpx.Response]


@dataclass(slots=True)
class Belongings:
    """What a tenant has beside its memories."""

    name: str
    """The tenant's."""
    keys: list[str] = field(default_factory=list)
    webhooks: list[str] = field(default_factory=list)
    erasures: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)

    @property
    def names(self) -> set[str]:
        """All that no answer to another tenant has."""
        return {*self.keys, *self.webhooks, *self.erasures, *self.steps, *self.secrets}

    def acquire(self, call: Call, served: Collection[str], *, erased: str | None) -> None:
        """Make a key and a webhook, erase the item with the uid ``erased``, and have flows consolidated where one can.

        Each leaves a record of changes, which no one undoes.
        """
        key = call("POST /keys", body={"rights": ["retrieve"], "note": "a page"}).raise_for_status().json()
        hook = call("POST /webhooks", body={"url": NOBODY}).raise_for_status().json()
        self.keys, self.webhooks = [key["id"]], [hook["id"]]
        self.secrets = {key["token"], hook["secret"]}
        if erased is not None:
            begun = call(FORGET, body={"items": [erased]}).raise_for_status().json()["erasure"]
            self.erasures = [begun]
            eventually(lambda: call(ERASURE_OF, uid=begun).json()["status"], lambda status: status == "done", 60, "it")
        if CONSOLIDATE in served:
            call(CONSOLIDATE, body={"hours": 0}).raise_for_status()
        steps = call(SLEEP).raise_for_status().json()["steps"]
        assert steps or CONSOLIDATE not in served, "something is there to be undone"
        self.steps = [*(step["id"] for step in steps), *(one["id"] for one in _audit(call))]

    def seen(self, call: Call) -> dict[str, Any]:
        """Return what its owner sees of it, without what changes by itself."""
        hooks = call("GET /webhooks").raise_for_status().json()["webhooks"]
        stats = call("GET /stats").raise_for_status().json()
        assert stats["disk_bytes"] is None, "it is of all tenants"
        return {
            "keys": call("GET /keys").raise_for_status().json(),
            "webhooks": [(hook["id"], hook["url"], hook["kinds"], hook["old_secret_until"]) for hook in hooks],
            "erasures": [call(ERASURE_OF, uid=one).raise_for_status().json() for one in self.erasures],
            "steps": call(SLEEP).raise_for_status().json()["steps"],
            "audit": _audit(call),
            "stats": stats,
            "contexts": call("GET /contexts").raise_for_status().json(),
            "users": call("GET /users").raise_for_status().json(),
        }


def _audit(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call(AUDIT, params={"limit": 1000}).raise_for_status().json()["records"]
    return found


def operator_requests(
    of: Belongings, uids: st.SearchStrategy[str], served: Collection[str]
) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    """Yield requests for each endpoint of ``OPERATORS`` and ``ERASURE`` that is ``served``, with the ``status`` that
    such a one is answered."""
    for endpoint, status, fields in _requests(of, uids):
        if endpoint in served:
            given = {name: st.just(one) if isinstance(one, dict) else one for name, one in fields.items()}
            yield st.fixed_dictionaries({"endpoint": st.just(endpoint), "status": st.just(status), **given})


type _Request = tuple[str, int | None, dict[str, Any]]


def _requests(of: Belongings, uids: st.SearchStrategy[str]) -> Iterator[_Request]:
    def asks(endpoint: str, status: int | None, **fields: Any) -> _Request:
        return endpoint, status, fields

    def named(ids: list[str]) -> st.SearchStrategy[str]:
        return st.sampled_from([*ids, "none"]) | uids

    yield asks("GET /keys", 200)
    yield asks("POST /keys", 201, body={"rights": ["retrieve"]})
    yield asks("DELETE /keys/{key}", 404, uid=named(of.keys))
    yield asks("GET /webhooks", 200)
    yield asks("POST /webhooks", None, body={"url": NOBODY})  # until it has as many as it may
    for endpoint in sorted(_OF_A_WEBHOOK):
        sent: dict[str, Any] = {"body": {}} if endpoint.startswith("POST") else {}
        yield asks(endpoint, 404, uid=named(of.webhooks), **sent)
    yield asks(SLEEP, 200, params=st.sampled_from([{}, {"task": "consolidate"}, {"limit": 1}]))
    yield asks(UNDO, 404, body=st.fixed_dictionaries({"step": named(of.steps)}))
    yield asks(RUN, 403, body=st.fixed_dictionaries({"job": st.sampled_from(["consolidation", "dream", "resolve"])}))
    yield asks(CHECK, 200)
    yield asks(AUDIT, 200)
    yield asks(ERASURE_OF, 404, uid=named(of.erasures))
    chosen = st.lists(uids, min_size=1, max_size=2)
    yield asks(FORGET, 404, body=st.fixed_dictionaries({"items": chosen}))
    by_uid = chosen.map(lambda found: {"uid": {"in": found}})
    yield asks(FORGET, 404, body=st.fixed_dictionaries({"filter": by_uid}))
    flags: st.SearchStrategy[Any] = st.booleans()
    names: st.SearchStrategy[Any] = st.sampled_from(["Ana", "Mara", "u-1"]) | uids
    target = st.fixed_dictionaries({"context": st.sampled_from(["home", "work", "past"]) | uids})
    target |= st.fixed_dictionaries({"person": names, "everywhere": flags})
    target |= st.fixed_dictionaries({"user": names, "mentions": flags})
    yield asks(FORGET, None, body=target.map(lambda chosen: {**chosen, "dry_run": True}))
    for operation in OPERATIONS:
        endpoint, body = f"POST /admin/{operation.name}", _BODIES.get(operation.name, {})
        if operation.of_tenant:
            yield asks(endpoint, 403, body={**body, "tenant": of.name})
            yield asks(endpoint, 200, body=body)
        elif "step" in operation.request.model_fields:
            yield asks(endpoint, 403, body=st.fixed_dictionaries({"step": named(of.steps)}))
        elif not operation.owner_only and "tenant" in operation.request.model_fields:
            yield asks(endpoint, 403, body={"tenant": of.name})
        else:
            yield asks(endpoint, 403, body={})
