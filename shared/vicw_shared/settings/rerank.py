"""The re-ranker of the read path, where there is one. Nothing needs it."""

from __future__ import annotations

from pydantic import Field, SecretStr

from vicw_shared.settings.concerns import config
from vicw_shared.settings.secrets import WithSecrets


class RerankSettings(WithSecrets):
    """A cross-encoder that reads the question with each of the best results and orders them anew; off by default."""

    model_config = config("VICW_RERANK_")

    url: str | None = Field(
        None,
        description="Base URL of a server that answers POST …/rerank (…/v1; llama.cpp's server, Jina, Cohere, vLLM). "
        "Questions and passages are sent there, so trust it with them",
    )
    model: str | None = Field(
        None,
        description="Its model, if it wants one named. Without a URL: the path of a cross-encoder's GGUF file, which "
        "`vicw serve` runs in a process of its own",
    )
    api_key: SecretStr | None = Field(None, description="Bearer key that the server is sent")
    timeout_seconds: float = Field(
        10.0,
        gt=0,
        description="How long one call may take at most, in seconds; VICW_RETRIEVAL_RERANK_MS is less",
    )
    threads: int = Field(0, ge=0, description="CPU threads of a GGUF file's process; 0 takes all cores")
    documents: int = Field(
        200, gt=0, description="Texts of one request to a GGUF file's process; a larger one gets 413"
    )
    queue_requests: int = Field(
        16, gt=0, description="Requests that may wait for a GGUF file's process before it answers 429"
    )

    @property
    def enabled(self) -> bool:
        """Whether there is a re-ranker."""
        return self.url is not None or self.model is not None
