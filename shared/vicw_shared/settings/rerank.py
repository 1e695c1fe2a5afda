"""Settings of the read path's reranker. Optional."""

from __future__ import annotations

from pydantic import Field, SecretStr

from vicw_shared.settings.concerns import config
from vicw_shared.settings.secrets import WithSecrets


class RerankSettings(WithSecrets):
    """Cross-encoder that scores the best results together with the question and reorders them; off by default."""

    model_config = config("VICW_RERANK_")

    url: str | None = Field(
        None,
        description="Base URL of a server that answers POST …/rerank (…/v1; llama.cpp's server, Jina, Cohere, vLLM). "
        "Questions and passages are sent there, so trust it with them",
    )
    model: str | None = Field(None, description="Its model, if it wants one named")
    api_key: SecretStr | None = Field(None, description="Bearer key that the server is sent")
    timeout_seconds: float = Field(
        10.0,
        gt=0,
        description="How long one call may take at most, in seconds; VICW_RETRIEVAL_RERANK_MS is less",
    )

    @property
    def enabled(self) -> bool:
        """Whether a reranker is configured."""
        return self.url is not None or self.model is not None
