"""Prompts that a person chooses in a client."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field


def add_prompts(server: MCPServer[Any]) -> None:
    """Add the prompts."""
    for prompt in (recall_about, wrap_up, why):
        server.prompt()(prompt)


def recall_about(topic: Annotated[str, Field(description="What to recall")]) -> str:
    """Tell what the memory holds on a topic."""
    return (
        f"Recall what the memory holds on this topic: {topic}\n\nAsk `recall` several short questions, follow what "
        "matters with `trace`, and tell what is known, since when, and what contradicts or replaces what. Name the "
        "addresses. Say plainly what is not known."
    )


def wrap_up() -> str:
    """Remember what this session decided and learnt."""
    return (
        "Go through this session and store with `remember` what a later one will need: decisions with their reasons, "
        "preferences, outcomes, open ends. One statement each, clear by itself, with `speaker` where a person said it. "
        "Recall first what is there already; retract what is no longer so. Then list what you stored."
    )


def why(event: Annotated[str, Field(description="What happened or was decided")]) -> str:
    """Tell why something happened, with proof."""
    return (
        f"Why did this happen: {event}\n\nFind it with `recall`, follow it with `trace` and show=causes, then "
        "show=history. Tell the chain of causes from the root on, each step with its address and date, and where it is "
        "not proven."
    )
