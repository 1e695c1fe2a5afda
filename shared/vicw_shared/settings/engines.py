"""Settings of the platform's servers. ``vicw serve`` needs none of them."""

from __future__ import annotations

from pydantic import Field, SecretStr

from vicw_shared.settings.concerns import config
from vicw_shared.settings.secrets import WithSecrets

_MOMENT_SECONDS = 0.1


class Neo4jSettings(WithSecrets):
    """Neo4j, the graph of the platform."""

    model_config = config("VICW_NEO4J_")

    url: str = Field("bolt://127.0.0.1:7687", description="Address of the server: bolt://, bolt+s://, neo4j:// …")
    user: str = Field("neo4j", description="User to sign in as")
    password: SecretStr | None = Field(None, description="Its password; with none, the server must not ask for one")
    database: str = Field("neo4j", description="Database that holds the graph, and nothing else")
    pool: int = Field(50, gt=0, description="Connections that one process may open")
    connect_seconds: float = Field(5.0, gt=0, description="How long opening a connection may take, in seconds")
    acquire_seconds: float = Field(30.0, gt=0, description="Timeout for a free connection of the pool, in seconds")
    query_seconds: float = Field(
        60.0, gt=0, description="How long a transaction may take before the server stops it, in seconds"
    )
    retry_seconds: float = Field(
        5.0, ge=0, description="How long a transaction that failed for a passing reason is tried again, in seconds"
    )

    def with_timeout(self, seconds: float) -> Neo4jSettings:
        """Return these settings with every timeout at most ``seconds``.

        Failed transactions are retried only for a moment: long enough to replace connections that a restarted server
        has closed, short enough to report a server that is down at once.
        """
        limits = {"acquire_seconds": seconds, "query_seconds": seconds, "retry_seconds": min(_MOMENT_SECONDS, seconds)}
        return self.model_copy(update={name: min(getattr(self, name), value) for name, value in limits.items()})


class QdrantSettings(WithSecrets):
    """Qdrant, the vector engine of the platform."""

    model_config = config("VICW_QDRANT_")

    url: str = Field(
        "http://127.0.0.1:6334", description="Address of its gRPC port; https:// for an encrypted connection"
    )
    api_key: SecretStr | None = Field(
        None, description="Key of the server; it travels in the clear unless the address is https://"
    )
    alias: str = Field(
        "vicw",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$",
        description="Alias of the collection in use, and how the names of all collections begin",
    )
    timeout_seconds: int = Field(10, gt=0, description="How long a search or another read may take, in seconds")
    write_timeout_seconds: int = Field(60, gt=0, description="How long a write may take, in seconds")


class RedisSettings(WithSecrets):
    """Redis, the broker of the platform's workers."""

    model_config = config("VICW_REDIS_")

    url: str = Field("redis://127.0.0.1:6379/0", description="Address of the server and its database, without password")
    password: SecretStr | None = Field(None, description="Its password; with none, the server must not ask for one")
    timeout_seconds: float = Field(2.0, gt=0, description="How long a wake-up may take to be sent, in seconds")
    poll_seconds: float = Field(
        15.0,
        gt=0,
        le=25,  # with the thirty seconds of a claim, so that a killed worker's work resumes within a minute
        description="Polling interval of workers, in seconds, for work without a wake-up; 25 at most, so that the "
        "work of a killed worker resumes within a minute",
    )
