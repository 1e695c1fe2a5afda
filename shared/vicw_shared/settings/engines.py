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
    password: SecretStr | None = Field(None, description="Its password; unset: the server must not require one")
    database: str = Field("neo4j", description="Database that holds the graph, and nothing else")
    pool: int = Field(50, gt=0, description="Maximum connections of one process")
    connect_seconds: float = Field(5.0, gt=0, description="Time limit for opening a connection, in seconds")
    acquire_seconds: float = Field(30.0, gt=0, description="Timeout for a free connection of the pool, in seconds")
    query_seconds: float = Field(
        60.0, gt=0, description="Time limit of a transaction, in seconds; the server stops a longer one"
    )
    retry_seconds: float = Field(
        5.0, ge=0, description="Time during which a transiently failed transaction is retried, in seconds"
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
        None, description="Key of the server; it is sent unencrypted unless the address begins with https://"
    )
    alias: str = Field(
        "vicw",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$",
        description="Alias of the collection in use, and prefix of the names of all collections",
    )
    timeout_seconds: int = Field(10, gt=0, description="Time limit of a search or another read, in seconds")
    write_timeout_seconds: int = Field(60, gt=0, description="Time limit of a write, in seconds")


class RedisSettings(WithSecrets):
    """Redis, the broker of the platform's workers."""

    model_config = config("VICW_REDIS_")

    url: str = Field("redis://127.0.0.1:6379/0", description="Address of the server and its database, without password")
    password: SecretStr | None = Field(None, description="Its password; unset: the server must not require one")
    timeout_seconds: float = Field(2.0, gt=0, description="Time limit for sending a wake-up, in seconds")
    poll_seconds: float = Field(
        15.0,
        gt=0,
        le=25,  # with the thirty seconds of a claim, so that a killed worker's work resumes within a minute
        description="Polling interval of workers, in seconds, for work without a wake-up; 25 at most, so that the "
        "work of a killed worker resumes within a minute",
    )
