"""Settings of all services. A field's description is its documentation in ``.env.example``; a test compares them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from vicw_shared.default_data_dir import default_data_dir
from vicw_shared.model.keys import tenant_flaw
from vicw_shared.settings.secrets import WithSecrets
from vicw_shared.wire.host_names import parse_hosts, parse_origins

REST_FACTOR = 12.0
"""Length of a background step's rest, as a multiple of the step's duration, so that a request seldom waits for one."""


def config(prefix: str) -> SettingsConfigDict:
    """Return the configuration of a concern: variables with ``prefix``; empty ones count as unset."""
    return SettingsConfigDict(env_prefix=prefix, frozen=True, extra="ignore", env_ignore_empty=True)


def tenant_name(name: str) -> str:
    """Return a tenant's name. Raises PydanticCustomError if it is invalid."""
    if problem := tenant_flaw(name):
        raise PydanticCustomError("tenant", "{problem}", {"problem": problem})
    return name


def _checked_by(parse: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


class ServerSettings(BaseSettings):
    """Address of a service, who may call it from where, and the tenant of requests without a key."""

    model_config = config("VICW_")

    host: str = Field("127.0.0.1", description="Address to listen on")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one")
    tenant: Annotated[str, AfterValidator(tenant_name)] = Field(
        "default", description="Tenant that requests without a key belong to"
    )
    allowed_hosts: Annotated[str, _checked_by(parse_hosts)] = Field(
        "",
        description="Names by which clients and reverse proxies call the service (the header Host), separated by "
        "commas, each with a port or for any port: `memory.example.org`, `*.example.org`, `localhost:9000`. Once it is "
        "set, a service that is not on loopback answers to these alone, to `localhost` and to IP addresses. A service "
        "on loopback answers to them and to `localhost` and `127.0.0.1` with its own port",
    )
    allowed_origins: Annotated[str, _checked_by(parse_origins)] = Field(
        "",
        description="Origins of the web pages of other sites that may call the service, separated by commas: "
        "`https://app.example.org`. Requests that browsers send for all other pages get 403",
    )
    shutdown_seconds: float = Field(
        8.0, gt=0, description="Time limit for requests in flight after SIGTERM, in seconds"
    )


class StorageSettings(BaseSettings):
    """The embedded stores."""

    model_config = config("VICW_")

    data_dir: Path = Field(default_factory=default_data_dir, description="Directory of the embedded stores (mode 0700)")
    min_free_mb: int = Field(
        64, ge=0, description="Minimum free space on the data directory's disk, in MiB; with less, writes are refused"
    )
    cached_nodes: int = Field(
        20_000,
        ge=0,
        description="Maximum graph nodes in the read cache, about 2 KB each, with three times as many edges; 0 "
        "disables the cache",
    )
    embedder: Literal["model", "none"] = Field(
        "model",
        description="`model`: the model of VICW_EMBEDDING_… computes vectors. `none`: no vectors; answers come from "
        "full text, tags and the graph, for a machine with 512 MB. Stored vectors stay; after a return to `model`, "
        "`vicw reindex` computes the missing ones. Only for `vicw serve`",
    )


class LimitSettings(BaseSettings):
    """Sizes beyond which a request is refused."""

    model_config = config("VICW_MAX_")

    body_bytes: int = Field(32 * 1024 * 1024, gt=0, description="Size of a request body, in bytes")
    bodies_bytes: int = Field(
        128 * 1024 * 1024, gt=0, description="Total size of all request bodies in flight; further requests get 429"
    )
    items: int = Field(1000, gt=0, description="Items in one ingest request")
    text_chars: int = Field(1_000_000, gt=0, description="Characters in an item's text")
    name_chars: int = Field(512, gt=0, description="Characters in a name, id, flow, context, speaker, source")
    tags: int = Field(64, gt=0, description="Tags, and ABOUT names, of one item")
    trigger_phrases: int = Field(32, gt=0, description="Trigger phrases of one item")
    metadata_bytes: int = Field(16 * 1024, gt=0, description="An item's metadata as JSON, in bytes")
    extracted: int = Field(1000, gt=0, description="Nodes plus relations in one item's extraction")
    page_headings: int = Field(5000, gt=0, description="Headings of one page of a knowledge folder")
    page_links: int = Field(5000, gt=0, description="Links of one page of a knowledge folder")
    query_chars: int = Field(50_000, gt=0, description="Characters in a query")
    results: int = Field(200, gt=0, description="Results of one retrieve request")
    paged_results: int = Field(1000, gt=0, description="Results of all pages of one question")
    graph_nodes: int = Field(500, gt=0, description="Nodes in one answer of /graph")
    hops: int = Field(10, gt=0, description="Hops of one walk")
    budget_chars: int = Field(1_000_000, gt=0, description="Characters, or tokens, in the text of an answer")
    template_chars: int = Field(4000, gt=0, description="Characters in a template of an answer's text")
    filter_depth: int = Field(5, gt=0, description="Levels of groups in a filter")
    event_streams: int = Field(
        16, gt=0, description="Streams of /events that a tenant may have open at each process of the service"
    )
    filter_values: int = Field(200, gt=0, description="Values that a filter compares with")
    feedback_chars: int = Field(2000, gt=0, description="Characters in the query of a feedback")
    feedback: int = Field(20, gt=0, description="Verdicts kept of each item; the oldest go, and stay counted")


class EmbeddingSettings(WithSecrets):
    """The embedding model and the process that runs it."""

    model_config = config("VICW_EMBEDDING_")

    model: str = Field(
        "all-MiniLM-L6-v2",
        description="A registered model (see `vicw model list`), or the path of a GGUF or ONNX file, or of its folder",
    )
    url: str | None = Field(
        None,
        description="Base URL of an OpenAI-compatible server (…/v1) to use instead of VICW's own process. Several "
        "are separated by commas: a server with the store's model is used; if it is down, another with the same "
        "model takes over. During a model change, name a server for each of the two models",
    )
    api_key: SecretStr | None = Field(
        None,
        description="Bearer key sent to the server. VICW's embedding server reads the same variable, requires this "
        "key of its clients, and must have one to listen beyond loopback",
    )
    query_prefix: str | None = Field(
        None,
        description="Prefix of every query, used verbatim; default: the prefix that the registered model was trained "
        "with",
    )
    dimensions: int | None = Field(
        None, gt=0, description="Cut vectors to this size; only for models trained to allow it"
    )
    repository: str | None = Field(
        None, description="Model-hub repository to pull the model from, instead of the registered one"
    )
    models_dir: Path | None = Field(None, description="Directory of model files; default: DATA_DIR/models")
    threads: int = Field(0, ge=0, description="CPU threads of each lane; 0 takes all cores")
    queue_texts: int = Field(
        4096, gt=0, description="Maximum texts that wait in the embedding server; with more, it answers 429"
    )
    timeout_seconds: float = Field(120.0, gt=0, description="Time limit of one embedding call, in seconds")

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers that ``url`` names, in order."""
        return tuple(filter(None, (part.strip().rstrip("/") for part in (self.url or "").split(","))))

    @property
    def chosen_model(self) -> str | None:
        """The configured model; None if ``model`` is only the default."""
        return self.model if "model" in self.model_fields_set else None


type DateOrder = Literal["auto", "dmy", "mdy"]
"""Order of day and month in dates with slashes that nothing else decides."""
DAY_FIRST = {"dmy": True, "mdy": False}
"""Whether the day is first, by that order; `auto` has no entry, since the language decides."""


class IngestSettings(BaseSettings):
    """The write path."""

    model_config = config("VICW_INGEST_")

    secrets: Literal["mask", "refuse", "off"] = Field(
        "mask",
        description="Treatment of keys, tokens, passwords and private keys in ingested text: `mask` (only their kind "
        "is stored), `refuse` (the request is refused), `off` (they are stored)",
    )
    extractor: str | None = Field(
        None,
        description="Name of the extractor that reads the texts (`english`), where several are installed; default: the "
        "one that is. `none`: no extraction by rules, but for code",
    )
    date_order: DateOrder = Field(
        "auto",
        description="Order of day and month in dates with slashes (3/5/2026) that nothing in the text decides: `dmy`, "
        "`mdy`, or `auto` (as the tenant's texts show it, else of the language of the text; the month first in "
        "English)",
    )
    chunk_chars: int = Field(1200, ge=100, description="Target size of a passage, in characters")
    batch: int = Field(64, gt=0, description="Texts sent to the embedder at once")
    duplicate_chars: int = Field(
        40,
        ge=0,
        description="Minimum characters of a text to be treated as a duplicate of a stored text and linked to its "
        "source; four times as many if another person says it or it has its own time. 0: no deduplication",
    )
    wait_seconds: float = Field(
        60.0, gt=0, description="Maximum time that `wait: true` waits, in seconds; then it answers 202 with a job"
    )
    max_backlog: int = Field(
        2_000_000,
        gt=0,
        description="Maximum passages of all tenants that wait for their vectors; above it, /ingest answers 429",
    )
    backlog_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Maximum share of one tenant in this backlog; above it, only that tenant gets 429. Set 1 if "
        "there is only one tenant",
    )
    max_tries: int = Field(
        30, gt=0, description="Maximum failed tries to embed a passage, over about a day; then it is dead"
    )
    receipt_hours: float = Field(
        168.0, gt=0, le=100_000, description="Time for which an Idempotency-Key and a job are kept, in hours"
    )
    audit_days: float = Field(
        365.0, gt=0, le=36_500, description="Time for which the record of changes is kept (GET /audit), in days"
    )
    hub_edges: int = Field(
        2000,
        gt=0,
        description="Number of edges from which a name, symbol, date or amount counts as too common; the rules link "
        "it to no further text",
    )
    session_minutes: float = Field(
        240.0,
        ge=0,
        le=10_000_000,
        description="Pause after which a chat without flow ids begins a new session, in minutes; 0: no inferred flows",
    )
    expiry_seconds: float = Field(
        30.0,
        gt=0,
        description="Interval at which `vicw serve` retires expired items, in seconds; answers omit them from "
        "`expires_at` on. Workers retire them at every poll",
    )
    candidate_threshold: float = Field(
        0.88,
        ge=0.5,
        le=1,
        description="Minimum similarity of the spelling of two names, from 0 to 1, for GET /entities/candidates to "
        "propose a merge",
    )
    candidate_names: int = Field(
        5000, gt=1, description="Maximum names that GET /entities/candidates compares; it says if there are more"
    )

    bridge_confidence: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Minimum confidence of a bridge between a page of a knowledge folder and a memory, from 0 to 1",
    )
    bridges: int = Field(
        50, ge=0, description="Maximum bridges of one type per page, the most certain ones; 0: no bridges"
    )

    def receipts_before(self, instant: datetime) -> datetime:
        """Return the time before which receipts were created that are removed at ``instant``."""
        return instant - timedelta(hours=self.receipt_hours)

    def audit_before(self, instant: datetime) -> datetime:
        """Return the time before which changes were recorded that are forgotten at ``instant``."""
        return instant - timedelta(days=self.audit_days)

    @property
    def max_backlog_of_tenant(self) -> int:
        """Passages of one tenant that may wait for their vectors."""
        return int(self.max_backlog * self.backlog_share)


MAX_POLL_SECONDS = 2.0
"""Maximum poll interval of every service, by which a change of the model waits for them."""


class ReindexSettings(BaseSettings):
    """The change of the embedding model of a store that is in use."""

    model_config = config("VICW_REINDEX_")

    poll_seconds: float = Field(
        MAX_POLL_SECONDS,
        gt=0,
        le=MAX_POLL_SECONDS,
        description="Interval at which each platform service reads the model in use, in seconds; at most 2: `vicw "
        "reindex` waits three times that limit before each step that all services must follow",
    )


class WorkerSettings(BaseSettings):
    """Celery workers, and the clock that wakes them."""

    model_config = config("VICW_WORKER_")

    concurrency: int = Field(1, gt=0, description="Processes of one worker; `--concurrency` overrides it")
    max_memory_mb: int = Field(
        400, gt=0, description="Memory limit of a worker process, in MiB; a process above it is replaced after its task"
    )
    liveness_file: Path | None = Field(
        None,
        description="File to touch every two seconds, for `python -m vicw_runtime.liveness`; each worker and clock "
        "needs its own file",
    )


class SleepSettings(BaseSettings):
    """The sleep cycle."""

    model_config = config("VICW_SLEEP_")

    paused: bool = Field(
        False,
        description="Pause the background jobs: consolidation, dreams, entity resolution, eviction and the mirror. "
        "Reconciliation still runs",
    )
    nice: int = Field(10, ge=0, le=19, description="Niceness of the sleep worker, 0 to 19")
    rest_factor: float = Field(
        REST_FACTOR,
        ge=0,
        description="While requests run, a background step is followed by a pause of this many times its own "
        "duration: two seconds at most, four on the platform; 0: no pauses",
    )
    reconcile_schedule: str = Field(
        "0 * * * *",
        description="Cron schedule of the comparison of vectors and graph, in UTC: minute, hour, day of the month, "
        "month, day of the week; `never`: only by `vicw sleep reconcile`",
    )
    reconcile_pages: int = Field(20, gt=0, description="Pages of a thousand passages that one slice compares")
    undo_days: float = Field(
        7.0, ge=0, le=3_650, description="Time for which `vicw sleep undo` can undo a step, in days"
    )
    poll_seconds: float = Field(
        30.0,
        gt=0,
        description="Interval at which the platform checks the vector index and looks for contexts with new items, "
        "in seconds; a lost index is rebuilt",
    )

    @property
    def grace(self) -> timedelta:
        """Time during which a step can be undone."""
        return timedelta(days=self.undo_days)


class WebhookSettings(BaseSettings):
    """Webhooks: requests to addresses of callers, with what happens to what is stored."""

    model_config = config("VICW_WEBHOOKS_")

    enabled: bool = Field(
        False, description="Send webhooks, and take new ones. The service that answers /events sends them"
    )
    allow_private: bool = Field(
        False,
        description="Send also to loopback, link-local, private and other special addresses, which keys with the "
        "right `admin` could reach so",
    )
    per_tenant: int = Field(10, gt=0, description="Webhooks that a tenant may have")
    timeout_seconds: float = Field(10.0, gt=0, le=25, description="Time limit of one request to a receiver, in seconds")


class LogSettings(BaseSettings):
    """Logs."""

    model_config = config("VICW_LOG_")

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe level logged")
    format: Literal["auto", "json", "text"] = Field(
        "auto", description="`json`, `text`, or `auto`: text on a terminal, else JSON"
    )
