"""Settings of the language model and of the reranker. Both are optional."""

from __future__ import annotations

from pydantic import Field, SecretStr

from vicw_shared.settings.concerns import config
from vicw_shared.settings.secrets import WithSecrets


class LlmSettings(WithSecrets):
    """Language model that extracts for `extract: "llm"` and "auto", and helps the sleep cycle."""

    model_config = config("VICW_LLM_")

    url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible server (…/v1). It receives the texts, so use one you trust"
    )
    model: str | None = Field(
        None,
        description="Its model; default: the only one that the server has. Without a URL: the path of a GGUF file, "
        "which `vicw serve` runs in its own process",
    )
    api_key: SecretStr | None = Field(None, description="Bearer key sent to the server")
    timeout_seconds: float = Field(120.0, gt=0, description="Time limit of one answer, in seconds")
    max_tokens: int = Field(4096, gt=0, description="Maximum tokens of one answer")
    text_chars: int = Field(6000, ge=200, description="Maximum characters per request; a longer text is split")
    parts: int = Field(50, gt=0, description="Maximum parts of one text that are extracted; the rules extract the rest")
    repairs: int = Field(
        2, ge=0, description="Maximum times that an invalid answer is returned to the model for correction, per request"
    )
    at_once: int = Field(2, gt=0, description="Maximum concurrent requests of one process")
    max_tries: int = Field(
        5,
        gt=0,
        description="Maximum tries of a text that the model fails to extract, over about a day; then it is dead",
    )
    threads: int = Field(0, ge=0, description="CPU threads of a GGUF file's process; 0 takes all cores")
    context_tokens: int = Field(
        16384, gt=0, description="Maximum tokens of prompt and answer together in a GGUF file's process"
    )

    @property
    def enabled(self) -> bool:
        """Whether a model is configured."""
        return self.url is not None or self.model is not None


class RerankSettings(WithSecrets):
    """Cross-encoder that scores the best results together with the question and reorders them; off by default."""

    model_config = config("VICW_RERANK_")

    url: str | None = Field(
        None,
        description="Base URL of a server that answers POST …/rerank (…/v1; llama.cpp's server, Jina, Cohere, vLLM). "
        "It receives questions and passages, so use one you trust",
    )
    model: str | None = Field(None, description="Its model, if the server requires one")
    api_key: SecretStr | None = Field(None, description="Bearer key sent to the server")
    timeout_seconds: float = Field(
        10.0,
        gt=0,
        description="Time limit of one call, in seconds; an answer waits at most VICW_RETRIEVAL_RERANK_MS for it",
    )

    @property
    def enabled(self) -> bool:
        """Whether a reranker is configured."""
        return self.url is not None or self.model is not None
