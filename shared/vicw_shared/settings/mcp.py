"""Settings of the MCP server, the door of agents."""

from __future__ import annotations

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class McpSettings(BaseSettings):
    """What agents write at the retrieval service, by MCP and by hooks."""

    model_config = config("VICW_MCP_")

    ingest_url: str | None = Field(
        None,
        description="Address of the ingest service, to which the retrieval service hands on what agents store and take "
        "back, turns of hooks too, with their key; unset: there, agents only read. `vicw serve` needs none",
    )
    write_seconds: float = Field(40.0, gt=0, description="Time limit of such a request, in seconds")

    @field_validator("ingest_url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError("should be an address that begins with http:// or https://")
        return url
