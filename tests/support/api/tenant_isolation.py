"""Two tenants of one server: whatever one of them does, it neither reads nor changes nor counts what is the other's."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.api.operator_requests import (
    ERASURE,
    FORGET,
    OPERATORS,
    Belongings,
    operator_requests,
)
from support.generators.example_count import TIMES
from support.processes.server import eventually

INGEST, JOB, RETRIEVE = "POST /ingest", "GET /ingest/jobs/{job}", "POST /retrieve"
RETRACT, SUPERSEDE, FEEDBACK = "POST /items/retract", "POST /supersede", "POST /feedback"
SAID = "GET /feedback"
ITEMS, ITEM, CONTEXTS, STATS = "GET /items", "GET /items/{uid}", "GET /contexts", "GET /stats"
TIMELINE, USERS, PROFILE = "GET /contexts/{context}/timeline", "GET /users", "GET /people/{uid}/profile"
EVENTS = "GET /events"
PATCH, PATCH_BY_ID = "PATCH /items/{uid}", "PATCH /items"
KNOWLEDGE = "GET /knowledge"
THINGS, CANDIDATES, THING = "GET /entities", "GET /entities/candidates", "GET /entities/{uid}"
MERGE, SPLIT, RENAME = "POST /entities/merge", "POST /entities/split", "POST /entities/{uid}/rename"
IDENTIFY = "POST /entities/identify"
OF_ONE_THING = {THING, RENAME}
IDENTITY = {THINGS, CANDIDATES, MERGE, SPLIT, IDENTIFY, *OF_ONE_THING}
FIND, WALK, FLOW = "POST /graph/find", "POST /graph/walk", "POST /graph/flow"
OF_A_NODE = {f"POST /graph/{question}" for question in ("about", "person", "users", "merges", "history")}
GRAPH = {FIND, WALK, FLOW, *OF_A_NODE}
READY, METRICS = "GET /readyz", "GET /metrics"
PROBES = ("GET /healthz", READY, METRICS)
HOOKS = {"POST /hooks/claude-code", "POST /hooks/codex"}
SESSION = "POST /hooks/session"
MCP = "POST /mcp"
"""The door of agents, which no OpenAPI tells of."""
_ITEMS = {
    RETRACT,
    SUPERSEDE,
    FEEDBACK,
    SAID,
    PATCH,
    PATCH_BY_ID,
    ITEMS,
    ITEM,
    CONTEXTS,
    STATS,
    TIMELINE,
    USERS,
    PROFILE,
    EVENTS,
}
IMPORT = "POST /import"
OF_IMPORT = {"GET /import/{job}", "DELETE /import/{job}"}
OF_AGENTS = {MCP, SESSION, *HOOKS}
_OF_FILES = {IMPORT, *OF_IMPORT, KNOWLEDGE}
TRIED = {INGEST, JOB, RETRIEVE, *OF_AGENTS, *_ITEMS, *_OF_FILES, *ERASURE, *IDENTITY, *GRAPH, *PROBES, *OPERATORS}
_EXAMPLES = 15 * TIMES
_MARK = "zanzibar"
"""In every text of the neighbour's, and in nothing that the tenant stores."""
PATIENT = {"VICW_RETRIEVAL_CHANNEL_MS": "20000", "VICW_RETRIEVAL_GRAPH_MS": "20000"}
"""For servers whose answers are compared: nothing is left out of one because the machine is busy."""
_NOT_FOUND = 404
_MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}


def endpoints(url: str) -> set[str]:
    """Return all endpoints that the server's OpenAPI tells of, and ``/mcp`` if the server has it."""
    document = httpx.get(f"{url}/openapi.json", timeout=60, trust_env=False).raise_for_status().json()
    told = {f"{m.upper()} {path}" for path, methods in document["paths"].items() for m in methods.keys() & _METHODS}
    has_mcp = httpx.post(f"{url}/mcp", timeout=60, trust_env=False).status_code != _NOT_FOUND
    return told | ({MCP} if has_mcp else set())


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who asks with a key; ``urls`` are the servers of each endpoint."""

    key: str
    urls: Mapping[str, Sequence[str]]

    def call(
        self,
        endpoint: str,
        job: str = "",
        body: Any = None,
        idempotency_key: str | None = None,
        server: int = 0,
        uid: str = "",
        params: Mapping[str, Any] | None = None,
        path: str = "",
        file: tuple[str, bytes] | None = None,
    ) -> httpx.Response:
        """Send a request. ``path`` stands behind that of the endpoint."""
        named = re.sub(r"\{(\w+)\}", lambda part: job if part[1] == "job" else uid, endpoint)
        method, named_path = named.split(" ", 1)
        headers = {"Authorization": f"Bearer {self.key}"} | (_MCP_HEADERS if endpoint == MCP else {})
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return httpx.request(
            method,
            f"{self.urls[endpoint][server]}{named_path}{path}",
            json=body,
            files={"file": file} if file is not None else None,
            params=params,
            headers=headers,
            timeout=60,
            trust_env=False,
        )

    def imports(self, name: str, text: str, **params: Any) -> dict[str, Any]:
        """Import a file, and return its job when it is done."""
        begun = self.call(IMPORT, file=(name, text.encode()), params=params).raise_for_status().json()

        def job() -> dict[str, Any]:
            answer: dict[str, Any] = self.call("GET /import/{job}", begun["job"]).raise_for_status().json()
            return answer

        return eventually(job, lambda said: said["status"] == "done", 60, "the import")


@dataclass(slots=True)
class Neighbour:
    """The tenant who is to be left alone."""

    tenant: Tenant
    indexed: bool
    """Whether the servers index what nobody waits for; else the context ``work`` waits for its vectors."""
    jobs: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    uids: set[str] = field(default_factory=set)
    belongings: Belongings = field(default_factory=lambda: Belongings("bob"))

    def moves_in(self) -> None:
        """Store what others might want to know, some of it not found yet."""
        turns = [
            {"id": "a", "text": f"Ana saw the {_MARK} harbour burn.", "speaker": "Ana", "tags": ["sea"]},
            {"id": "b", "text": f"The {_MARK} keeper slept.", "about": ["Ana"], "sensitivity": "personal"},
            {"text": f"Nobody counted the {_MARK} ships.", "extraction": {"entities": [{"name": "Mara"}]}},
        ]
        for context, wait in (("home", True), ("work", False)):
            body = {"context": context, "flow_id": "f", "items": turns, "wait": wait}
            answer = self.tenant.call(INGEST, body=body, idempotency_key=f"key {context}").raise_for_status().json()
            self.jobs += [answer["job"]] if answer["job"] is not None else []
            self.uids |= {answer["context_uid"], *(item["uid"] for item in answer["items"])}
            self.uids |= {node["uid"] for item in answer["items"] for node in item["nodes"]}

        page = {"text": f"# The {_MARK} pier\n\n[[{_MARK}]]", "page": {"folder": "handbook", "path": f"{_MARK}.md"}}
        pages = self.tenant.call(INGEST, body={"context": "home", "items": [page]}).raise_for_status().json()
        self.uids |= {node["uid"] for item in pages["items"] for node in (item, *item["nodes"])}
        self._acquires()
        self.imported.append(self.tenant.imports(f"{_MARK}.md", f"{_MARK} sails.", dry_run=True)["job"])
        listed = self.tenant.call(KNOWLEDGE, params={"context": "home", "folder": "handbook"}).raise_for_status().json()
        assert [page["path"] for page in listed["pages"]] == [f"{_MARK}.md"]

    def _acquires(self) -> None:
        rounds = [{"text": f"We talked about the {_MARK} in round {n}.", "flow_id": "long"} for n in range(12)]
        stored = self.tenant.call(INGEST, body={"context": "past", "items": rounds}).raise_for_status().json()
        erased = None
        if self.indexed:  # else nobody erases, and it would go at any time
            gone = {"context": "past", "items": [{"text": f"A {_MARK} to be gone."}]}
            erased = self.tenant.call(INGEST, body=gone).raise_for_status().json()["items"][0]["uid"]
        self.belongings.acquire(self.tenant.call, self.tenant.urls, erased=erased)
        self.uids |= {node["uid"] for item in stored["items"] for node in (item, *item["nodes"])}

    def sees(self) -> dict[str, Any]:
        """Return what the neighbour gets to see, without scores: rare words are rarer in a larger collection."""
        at_work = [] if self.indexed else ["pending"]
        answers = {
            str(body): _without_scores(self.tenant.call(RETRIEVE, body=body).raise_for_status().json(), degraded)
            for body, degraded in (
                ({"query": "harbour ships keeper", "limit": 50}, at_work),
                ({"query": "harbour", "context": "home", "limit": 50, "viewer": {"user": "Ana"}}, []),
                ({"query": "ships", "tags": {"any": ["sea"]}, "limit": 50}, at_work),
            )
        }
        for context in ("home", "work"):
            known = self.tenant.call(THINGS, params={"context": context}).raise_for_status().json()["entities"]
            assert known
            answers[f"things {context}"] = {"nodes": known, "results": known}
        jobs = self.sees_jobs()
        ready = [self._ready(number) for number in range(len(self.tenant.urls[READY]))]
        self.uids |= {node["uid"] for answer in answers.values() for node in answer["nodes"]}
        return {"answers": answers, "jobs": jobs, "ready": ready, **self.belongings.seen(self.tenant.call)}

    @property
    def secrets(self) -> set[str]:
        """What no answer to another tenant has."""
        return {_MARK, *self.jobs, *self.imported, *self.uids, *self.belongings.names}

    def sees_jobs(self) -> list[dict[str, Any]]:
        imported = [self.tenant.call("GET /import/{job}", job).json() for job in self.imported]
        return [*(self.tenant.call(JOB, job).json() for job in self.jobs), *imported]

    def _ready(self, server: int) -> dict[str, Any]:
        def told() -> dict[str, Any]:
            answer: dict[str, Any] = self.tenant.call(READY, server=server).json()
            return answer

        return eventually(told, lambda said: said["status"] == "ready", 60, "it is ready")


def _without_scores(answer: dict[str, Any], degraded: list[str]) -> dict[str, Any]:
    assert answer["degraded"] == degraded, "what waits is told of to its own tenant alone"
    kept = ("id", "uid", "name", "text", "context", "domain", "flow_id", "flow_step", "tags", "metadata", "via")
    return {
        "results": sorted(({name: result[name] for name in kept} for result in answer["results"]), key=str),
        "nodes": sorted(answer["graph"]["nodes"], key=str),
        "edges": sorted(answer["graph"]["edges"], key=str),
    }


def check_isolation(urls: Mapping[str, Sequence[str]], keys: tuple[str, str], *, indexed: bool) -> None:
    """Let one tenant do anything, above all with what is the other's; fail if the other is touched by it.

    ``keys``: with all rights, of a tenant ``ana`` and of ``bob``; the operator's is a third.
    ``indexed`` tells whether the servers index what nobody waits for; where they do not, it stays a running job.
    """
    tenant, neighbour = Tenant(keys[0], urls), Neighbour(Tenant(keys[1], urls), indexed)
    neighbour.moves_in()
    if indexed:
        eventually(neighbour.sees_jobs, lambda jobs: jobs[0]["status"] == "done", 60, "the job")
        eventually(lambda: neighbour.tenant.call(STATS).json()["waiting"], lambda left: left == 0, 60, "the index")
    before = neighbour.sees()

    def unchanged() -> None:
        seen = neighbour.sees()
        for what, was in before.items():
            assert seen[what] == was, f"{what}: {seen[what]} instead of {was}"

    unchanged()  # while nobody does anything
    assert len(before["answers"]) == 5
    assert all(answer["results"] for answer in before["answers"].values())
    intruder = Intruder(tenant, neighbour)
    intruder.moves_in()

    requests = list(_requests(neighbour))

    @settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*requests))
    def everything(all_requests: tuple[dict[str, Any], ...]) -> None:
        for request in all_requests:
            intruder.does(**request)
        assert {request["endpoint"] for request in all_requests} == urls.keys(), "each endpoint is tried"
        unchanged()

    @settings(max_examples=_EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(requests), min_size=1, max_size=6))
    def anything(all_requests: list[dict[str, Any]]) -> None:
        for request in all_requests:
            intruder.does(**request)
        unchanged()

    everything()
    anything()
    if indexed:
        assert tenant.call(FORGET, body={"all": True}).raise_for_status().json()["status"] == "done"
        assert tenant.call(STATS).raise_for_status().json()["items"] == 0
        unchanged()


def check_queue_fairness(urls: Mapping[str, Sequence[str]], keys: tuple[str, str], *, most: int) -> None:
    """Let one tenant fill its queue, where the servers do not index what nobody waits for.

    Fail if the other is kept out by it, or if either is told of more than its own. ``most`` is a tenant's limit.
    """
    full, other = (Tenant(key, urls) for key in keys)

    def store(tenant: Tenant, *, wait: bool = False) -> httpx.Response:
        return tenant.call(INGEST, body={"context": "home", "items": [{"text": "One more ship."}], "wait": wait})

    assert [store(other).status_code for _ in range(most // 2)] == [202] * (most // 2)
    stored = 0
    while (answer := store(full)).status_code == 202:  # until the next look, at most a second
        stored += 1
        assert stored < 100 * most, "the queue is never full"
    time.sleep(1.1)
    answer = store(full)
    assert (answer.status_code, answer.json()["type"]) == (429, "urn:vicw:problem:overloaded")
    assert re.findall(r"\d+", answer.json()["detail"]) == [str(stored), str(most)], "its own figure, and the limit"
    assert [store(other, wait=wait).status_code for wait in (False, True)] == [202, 201]
    assert store(full, wait=True).status_code == 429


@dataclass(slots=True)
class Intruder:
    """The tenant who tries."""

    tenant: Tenant
    neighbour: Neighbour
    _ids: set[tuple[str, str]] = field(default_factory=set)
    _stored: Counter[tuple[str, str]] = field(default_factory=Counter)
    _jobs: list[str] = field(default_factory=list)

    def moves_in(self) -> None:
        """Do all that a tenant may, under the neighbour's names."""
        item = {"id": "a", "text": "The harbour of somebody else.", "speaker": "Ana"}
        body = {"context": "home", "flow_id": "f", "items": [item]}
        for wait in (True, False):
            self.does(INGEST, body={**body, "wait": wait})
        assert self.tenant.call(JOB, self._jobs[-1]).status_code == 200
        answer = self.tenant.call(RETRIEVE, body={"query": "harbour", "context": "home"})
        assert [result["id"] for result in answer.raise_for_status().json()["results"]] == ["a"]
        tool = {"name": "recall", "arguments": {"query": "harbour", "context": "home"}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
        imported = self.tenant.imports("a.md", "# Somebody else's harbour\n\nA file.", context="home")["report"]
        assert (imported["created"], imported["contexts"]) == (1, {"home": 1}), "nothing of the neighbour's is replaced"
        assert "somebody else" in self.tenant.call(MCP, body=call).raise_for_status().text, "its own it finds"

    def does(self, endpoint: str, **request: Any) -> None:
        for server in range(len(self.tenant.urls[endpoint])):
            self._does(endpoint, server=server, **request)

    def _does(self, endpoint: str, job: str = "", status: int | None = None, **request: Any) -> None:
        job = job or (self._jobs[-1] if self._jobs else "none")
        answer = self.tenant.call(endpoint, job, **request)
        assert answer.status_code < 500, answer.text
        assert status in {None, answer.status_code}, f"{endpoint} {request}: {answer.text}"
        sent = json.dumps([job, request], ensure_ascii=False, default=repr)
        told = [secret for secret in self.neighbour.secrets if secret in answer.text]
        assert [secret for secret in told if secret not in sent] == [], f"{endpoint} {sent}: {answer.text}"
        if endpoint == JOB and job in self.neighbour.jobs:
            assert answer.status_code == 404
        if endpoint in OF_IMPORT:
            assert answer.status_code == 404, "it is the neighbour's"
        if endpoint in {*OF_ONE_THING, ITEM, PROFILE}:
            assert answer.status_code == 404, "it is the neighbour's"
        if endpoint == RETRACT and "uids" in request["body"]:
            assert {item["status"] for item in answer.json()["items"]} == {"unknown"}, "they are the neighbour's"
        if endpoint in {PATCH, SUPERSEDE, FEEDBACK}:
            assert answer.status_code == 404, "it is the neighbour's"
        if endpoint in {MERGE, SPLIT, IDENTIFY}:
            assert answer.status_code == 422, "at least one of the two is the neighbour's"
        if endpoint == INGEST and answer.is_success:
            self._stores(request["body"], answer.json())

    def _stores(self, body: dict[str, Any], answer: dict[str, Any]) -> None:
        """Judge an outcome by what this tenant has stored so far: nothing else is known, retired or counted."""
        self._jobs += [answer["job"]] if answer["job"] is not None else []
        context = body["context"]
        self._stored.update((context, item["flow_id"]) for item in answer["items"])
        for sent, item in zip(body["items"], answer["items"], strict=True):
            if (context, sent.get("id")) not in self._ids:
                assert item["status"] == "created", "a neighbour's item is no earlier version"
            if sent.get("id") is not None:
                self._ids.add((context, sent["id"]))
            if item["flow_step"] is not None:
                told = f"a neighbour's steps do not count: {sent} became {item} after {dict(self._stored)}"
                assert item["flow_step"] <= self._stored[context, item["flow_id"]], told


def _requests(neighbour: Neighbour) -> list[st.SearchStrategy[dict[str, Any]]]:
    """Requests full of what is the neighbour's: names, ids, uids, jobs, keys.

    No uid is where it would become the tenant's own data, to be found in its answers with good reason.
    """
    uids = st.sampled_from(sorted(neighbour.uids))
    ids = st.sampled_from(["a", "b", "c", None])
    contexts = st.sampled_from(["home", "work", "home", "elsewhere"])
    people = st.lists(st.sampled_from(["Ana", "Ben", "Mara"]) | uids, max_size=2)
    words = st.sampled_from(["the harbour", "keeper of ships", "Nobody counted the ships.", "sea"])
    relation = st.fixed_dictionaries(
        {
            "source": st.sampled_from(["$item", "a", "b"]) | uids,
            "type": st.sampled_from(["RELATED_TO", "MENTIONS", "CAUSED"]),
            "target": st.sampled_from(["Mara", "a", "b"]) | uids,
        }
    )
    extraction = st.fixed_dictionaries(
        {"entities": st.just([{"name": "Mara"}]), "relations": st.lists(relation, max_size=1)}
    )
    item = st.fixed_dictionaries(
        {
            "text": words,
            "id": ids,
            "speaker": st.sampled_from([None, "Ana", "Ben"]),
            "tags": st.sampled_from([[], ["sea"]]),
            "about": people,
            "sensitivity": st.sampled_from(["public", "personal"]),
            "extraction": st.none() | extraction,
        }
    )
    ingest = st.fixed_dictionaries(
        {
            "context": contexts,
            "flow_id": st.sampled_from([None, "f", "g"]),
            "wait": st.booleans(),
            "items": st.lists(item, min_size=1, max_size=3),
        }
    )
    retract = st.fixed_dictionaries(
        {"context": contexts | uids, "ids": st.lists(st.sampled_from(["a", "b", "c"]) | uids, min_size=1, max_size=3)}
    )
    by_uid = st.fixed_dictionaries({"uids": st.lists(uids, min_size=1, max_size=3), "dry_run": st.booleans()})
    anywhere = st.none() | contexts | uids
    viewer = st.fixed_dictionaries({"user": st.sampled_from(["Ana", "Ben"]) | uids, "context": anywhere})
    ask = st.fixed_dictionaries(
        {
            "query": words | st.just(_MARK) | uids,
            "context": anywhere,
            "viewer": st.none() | viewer,
            "tags": st.sampled_from([{}, {"any": ["sea"]}]),
            "limit": st.sampled_from([3, 50]),
            "explain": st.booleans(),
        }
    )
    keys = st.sampled_from([None, None, "key home", "key work"])
    return [
        st.fixed_dictionaries({"endpoint": st.just(INGEST), "body": ingest, "idempotency_key": keys}),
        st.fixed_dictionaries({"endpoint": st.just(RETRIEVE), "body": ask}),
        st.fixed_dictionaries({"endpoint": st.just(RETRIEVE), "body": ask}),
        st.fixed_dictionaries({"endpoint": st.just(RETRACT), "body": retract | by_uid}),
        st.fixed_dictionaries(
            {
                "endpoint": st.just(SUPERSEDE),
                "body": st.fixed_dictionaries({"new": uids, "old": uids, "undo": st.booleans()}),
            }
        ),
        st.fixed_dictionaries(
            {
                "endpoint": st.just(FEEDBACK),
                "body": st.fixed_dictionaries({"item": uids, "verdict": st.just("wrong"), "query": words}),
            }
        ),
        st.fixed_dictionaries({"endpoint": st.just(PATCH), "uid": uids, "body": st.just({"tags": ["mine"]})}),
        st.fixed_dictionaries(
            {
                "endpoint": st.just(PATCH_BY_ID),
                "params": st.fixed_dictionaries({"context": contexts, "id": st.sampled_from(["b", "c"]) | uids}),
                "body": st.just({"metadata": {"tried": True}}),
            }
        ),
        *_identities(neighbour),
        *_questions(neighbour),
        *_hooks(neighbour),
        *_agents(neighbour),
        *_of_each(OF_IMPORT, job=st.sampled_from([*neighbour.imported, "none"]) | uids),
        st.fixed_dictionaries(
            {
                "endpoint": st.just(IMPORT),
                "file": st.just(("a.md", b"# The harbour\n\nIs calm.")),
                "params": st.fixed_dictionaries({"context": contexts | uids, "dry_run": st.just("true")}),
            }
        ),
        st.fixed_dictionaries({"endpoint": st.just(JOB), "job": st.sampled_from([*neighbour.jobs, "none", ""]) | uids}),
        *_of_each(PROBES),
        *operator_requests(neighbour.belongings, uids, neighbour.tenant.urls),
    ]


def _of_each(endpoints: Iterable[str], **fields: st.SearchStrategy[Any]) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    for endpoint in sorted(endpoints):
        yield st.fixed_dictionaries({"endpoint": st.just(endpoint), **fields})


def _hooks(neighbour: Neighbour) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    """Sessions of an agent in a context of the neighbour's, which ask for what is in it."""
    uids = st.sampled_from(sorted(neighbour.uids))
    prompt = st.sampled_from(["the harbour", "keeper of ships", _MARK]) | uids
    context, session = st.sampled_from(["home", "work"]), st.sampled_from(["f", "g"]) | uids
    asked = {"context": context, "session": session, "prompt": prompt}
    event = st.fixed_dictionaries({"event": st.sampled_from(["start", "prompt"]), **asked})
    yield st.fixed_dictionaries({"endpoint": st.just(SESSION), "body": event})
    hook = st.fixed_dictionaries(
        {
            "hook_event_name": st.sampled_from(["SessionStart", "UserPromptSubmit", "SessionEnd"]),
            "session_id": session,
            "prompt": prompt,
            "transcript_path": st.just("/etc/passwd"),
        }
    )
    params = st.fixed_dictionaries({"context": context})
    yield from _of_each(HOOKS, params=params, body=hook)


def _agents(neighbour: Neighbour) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    """Calls of tools, and of resources, by an agent that names contexts, ids and uids of the neighbour's."""
    uids = st.sampled_from(sorted(neighbour.uids))
    contexts = st.sampled_from(["home", "work"])
    node = st.sampled_from(["Ana", "Mara", "a", "b", "agent:a"]) | uids
    scope = st.none() | contexts | st.just("*")
    path = st.sampled_from(["", "/home", "/work"])

    def call(method: str, params: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        body = st.fixed_dictionaries(
            {"jsonrpc": st.just("2.0"), "id": st.just(1), "method": st.just(method), "params": params}
        )
        return st.fixed_dictionaries({"endpoint": st.just(MCP), "path": path, "body": body})

    def tool(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        given_ones = st.fixed_dictionaries(arguments).map(lambda all_: {k: v for k, v in all_.items() if v is not None})
        return call("tools/call", st.fixed_dictionaries({"name": st.just(name), "arguments": given_ones}))

    shows = st.sampled_from(["around", "causes", "history", "thread", "about"])
    yield tool("recall", query=st.sampled_from(["the harbour", "keeper of ships", _MARK]) | uids, context=scope)
    yield tool("trace", of=node, show=shows, context=scope)
    yield tool("memory_status")
    yield tool("retract", ids=st.lists(node, min_size=1, max_size=3), context=st.none() | contexts)
    yield tool("remember", text=st.just("The harbour is calm."), id=st.sampled_from(["a", "b"]), context=contexts)
    item = st.tuples(contexts, st.sampled_from(["b", "c"]) | uids).map("vicw://{0[0]}/item/{0[1]}".format)
    brief = contexts.map("vicw://{}/brief".format)
    yield call("resources/read", st.fixed_dictionaries({"uri": item | brief}))


def _questions(neighbour: Neighbour) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    """Requests for what is in the graph around things of the neighbour's."""
    uids = st.sampled_from(sorted(neighbour.uids))
    node = st.sampled_from(["Ana", "Mara", "a", "b"]) | uids
    context = st.none() | st.sampled_from(["home", "work"]) | uids
    walk = st.fixed_dictionaries({"start": st.lists(node, max_size=2), "context": context, "hops": st.integers(0, 3)})
    yield st.fixed_dictionaries({"endpoint": st.just(WALK), "body": walk})
    find = st.fixed_dictionaries({"name": st.none() | node, "context": context})
    yield st.fixed_dictionaries({"endpoint": st.just(FIND), "body": find})
    thread = st.fixed_dictionaries({"flow": st.sampled_from(["f", "g"]) | uids, "context": context})
    yield st.fixed_dictionaries({"endpoint": st.just(FLOW), "body": thread})
    asked = st.fixed_dictionaries({"node": node, "context": context})
    yield from _of_each(OF_A_NODE, body=asked)


def _identities(neighbour: Neighbour) -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    """Requests for the things of a context of the neighbour's, and such that would change who the neighbour's are."""
    uids = st.sampled_from(sorted(neighbour.uids))
    context = st.fixed_dictionaries({"context": st.sampled_from(["home", "work"])})
    folder = st.fixed_dictionaries({"context": st.sampled_from(["home", "work"]), "folder": st.just("handbook")})
    yield st.fixed_dictionaries({"endpoint": st.just(KNOWLEDGE), "params": folder})
    yield from _of_each([THINGS, CANDIDATES], params=context)
    after = st.fixed_dictionaries({"context": st.just("home"), "after": uids})
    yield st.fixed_dictionaries({"endpoint": st.just(THINGS), "params": after})
    yield from _of_each([THING, ITEM, PROFILE], uid=uids)
    listed = st.fixed_dictionaries({"context": st.sampled_from(["home", "work"]), "include": st.just("retired")})
    yield st.fixed_dictionaries({"endpoint": st.just(ITEMS), "params": listed})
    yield from _of_each([CONTEXTS, STATS, USERS, SAID])
    watched = st.fixed_dictionaries({"follow": st.just("false"), "after": uids.map("0-{}".format)})
    yield st.fixed_dictionaries({"endpoint": st.just(EVENTS), "params": watched})
    yield st.fixed_dictionaries({"endpoint": st.just(TIMELINE), "uid": uids | st.sampled_from(["home", "elsewhere"])})
    name = st.just({"name": "Mara"})
    yield st.fixed_dictionaries({"endpoint": st.just(RENAME), "uid": uids, "body": name})
    merge = st.fixed_dictionaries({"entity": uids, "into": uids})
    yield st.fixed_dictionaries({"endpoint": st.just(MERGE), "body": merge})
    identify = st.fixed_dictionaries({"user": uids, "person": uids, "holds": st.booleans()})
    yield st.fixed_dictionaries({"endpoint": st.just(IDENTIFY), "body": identify})
    split = st.fixed_dictionaries({"entity": uids, "apart_from": uids})
    yield st.fixed_dictionaries({"endpoint": st.just(SPLIT), "body": split})
