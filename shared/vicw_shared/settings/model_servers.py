"""Settings of the language model and of the reranker. Both are optional."""

from __future__ import annotations

from pydantic import Field, SecretStr

from vicw_shared.settings.concerns import config
from vicw_shared.settings.secrets import WithSecrets


class LlmSettings(WithSecrets):
    """Language model that extracts for `extract: "llm"` and "auto", and helps the sleep cycle."""

    model_config = config("VICW_LLM_")

    url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible server (…/v1). Texts are sent there, so trust it with them"
    )
    model: str | None = Field(
        None,
        description="Its model; default: the only one that the server has. Without a URL: the path of a GGUF file, "
        "which `vicw serve` runs in a process of its own",
    )
    api_key: SecretStr | None = Field(None, description="Bearer key that the server is sent")
    timeout_seconds: float = Field(120.0, gt=0, description="How long one answer may take, in seconds")
    max_tokens: int = Field(4096, gt=0, description="Tokens that one answer may have")
    text_chars: int = Field(
        6000, ge=200, description="Characters of a text that are read at once; a longer one is read in parts"
    )
    parts: int = Field(50, gt=0, description="Parts of one text that are read; the rest is left to the rules")
    repairs: int = Field(
        2, ge=0, description="How often an answer that is of no use is sent back to be mended, each time"
    )
    at_once: int = Field(2, gt=0, description="Texts that one process has read at the same time")
    max_tries: int = Field(
        5, gt=0, description="Tries of a text that the model fails at, within about two days; then it is given up"
    )
    threads: int = Field(0, ge=0, description="CPU threads of a GGUF file's process; 0 takes all cores")
    context_tokens: int = Field(
        16384, gt=0, description="Tokens of question and answer together that a GGUF file's process has room for"
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
