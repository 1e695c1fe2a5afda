"""Settings of metrics and traces."""

from __future__ import annotations

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class MetricsSettings(BaseSettings):
    """Metrics of the workers and the clock, which have no other port."""

    model_config = config("VICW_METRICS_")

    host: str = Field(
        "127.0.0.1", description="Address on which a worker, or the clock, serves its metrics; no key is required"
    )
    port: int | None = Field(None, ge=0, le=65535, description="Port of these metrics; unset: no metrics are served")


class TraceSettings(BaseSettings):
    """Traces (OpenTelemetry)."""

    model_config = config("VICW_TRACES_")

    endpoint: str | None = Field(
        None,
        description="Address to which spans are sent by OTLP over HTTP, such as http://collector:4318; unset: no "
        "traces. OpenTelemetry's own variables set everything else, such as OTEL_TRACES_SAMPLER or "
        "OTEL_EXPORTER_OTLP_HEADERS",
    )

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, endpoint: str | None) -> str | None:
        if endpoint is not None and not endpoint.startswith(("http://", "https://")):
            raise ValueError("should be an address that begins with http:// or https://")
        return endpoint
