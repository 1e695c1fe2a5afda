"""Settings of agents' hooks."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class HookSettings(BaseSettings):
    """What agents' hooks recall by themselves, and what they offload."""

    model_config = config("VICW_HOOKS_")

    deadline_ms: int = Field(500, gt=0, description="Time limit of a recall, in ms; then the agent gets nothing")
    results: int = Field(3, ge=0, le=20, description="Maximum memories that a prompt recalls; 0: none")
    brief_items: int = Field(8, ge=0, le=100, description="Maximum memories that a session begins with; 0: none")
    chars: int = Field(2000, gt=0, description="Maximum length of what an agent gets at a time, in characters")
    prompt_chars: int = Field(
        2000, gt=1, le=50_000, description="Characters of a longer prompt that are searched for: its beginning and end"
    )
    min_relevance: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Relevance of the answer from which a prompt recalls anything; an answer that is not `likely` "
        "recalls nothing",
    )
    excluded_sources: str = Field(
        "",
        description="Sources whose items no agent gets by itself, separated by commas: `mail`, `web/*` (all that begin "
        "with `web/`). They are found by every other way",
    )
    read_transcripts: bool = Field(
        True,
        description="Open the transcripts that hooks name, those of this user below ~/.claude/projects and "
        "~/.codex/sessions, if the server is on loopback and the same user runs the hook. Only for `vicw serve`",
    )
    sessions: int = Field(
        1000, gt=0, description="Sessions of which the process remembers what it has shown, those used last"
    )

    @property
    def excluded_source_names(self) -> list[str]:
        """The names in ``excluded_sources``; one that ends with ``*`` is a beginning."""
        return [name for part in self.excluded_sources.split(",") if (name := part.strip())]
