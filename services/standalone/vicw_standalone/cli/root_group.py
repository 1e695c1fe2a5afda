"""Every command: what it does, and the module that defines it.

Only the module of the chosen command is imported, so that a command which asks a server starts in a moment. The help
shows the sentences below, which are the first ones of the commands' own help.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from vicw_standalone.cli import plugins

COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("vicw_standalone.cli.serve", "Serve the memory in one process: no other server, no LLM, no network."),
    "mcp": ("vicw_standalone.mcp.cli", "Connect an agent: an MCP server on standard input and output."),
    "ingest": (
        "vicw_standalone.file_import.cli",
        "Ingest files: notes, text, source code, chats, exports of assistants, JSON Lines of items.",
    ),
    "retrieve": ("vicw_standalone.cli.retrieve", "Retrieve evidence for a question."),
    "retract": ("vicw_standalone.cli.retract", "Retract items, with everything that rests on them alone."),
    "items": (
        "vicw_standalone.cli.items",
        "List, show, change and retract what is stored. Needs a running server.",
    ),
    "contexts": (
        "vicw_standalone.cli.contexts",
        "List contexts, with what each holds. Needs a running server.",
    ),
    "timeline": (
        "vicw_standalone.cli.timeline",
        "Show a context's items in order of time, the first ones first. Needs a running server.",
    ),
    "users": (
        "vicw_standalone.cli.users",
        "List users by id, then speakers without one, with what is stored of each. Needs a running server.",
    ),
    "events": (
        "vicw_standalone.cli.events",
        "Watch what is stored, changed and forgotten, until Ctrl-C. Needs a running server.",
    ),
    "webhooks": (
        "vicw_standalone.cli.webhooks",
        "Have events sent to an address, and send again what it did not take. Needs a running server.",
    ),
    "audit": (
        "vicw_standalone.cli.audit",
        "List who changed and erased how much, the latest first. Needs a running server.",
    ),
    "feedback": (
        "vicw_standalone.cli.feedback",
        "List what was said of items, the item judged last first. Needs a running server.",
    ),
    "stats": ("vicw_standalone.cli.stats", "Show how much is stored. Needs a running server."),
    "reindex": (
        "vicw_sleep.reindex.cli",
        "Change the embedding model, or repair the vector index. Running servers keep answering.",
    ),
    "check": ("vicw_sleep.check.cli", "Check the store's invariants."),
    "doctor": (
        "vicw_standalone.doctor.cli",
        "Find problems of this machine, the settings and the stored data, and show how to fix them.",
    ),
    "export": (
        "vicw_standalone.cli.export",
        "Export the store into a folder of readable files: JSONL, edges, vectors, a manifest.",
    ),
    "import": ("vicw_sleep.archive.cli", "Import an export into a store of either kind."),
    "backup": (
        "vicw_sleep.archive.cli",
        "Export everything, with API keys, into a new folder named by the time; then remove older backups (--keep).",
    ),
    "restore": ("vicw_sleep.archive.cli", "Restore a backup into an empty store, without checking its invariants."),
    "entities": (
        "vicw_standalone.cli.entities",
        "List entities, and decide which of them are the same. Needs a running server.",
    ),
    "graph": ("vicw_standalone.drawing.cli", "Show parts of the graph. Needs a running server."),
    "jobs": ("vicw_ingest.jobs.cli", "List passages that could not be indexed, and retry them."),
    "keys": (
        "vicw_runtime.keys.cli",
        "Create, list and revoke API keys. A server that other machines can reach requires one.",
    ),
    "model": ("vicw_standalone.embedding_model.cli", "The embedding model: list, pull, use."),
    "mirror": ("vicw_sleep.mirror.cli", "Mirror the memory into a folder of Markdown files: build, sync, status."),
    "sleep": (
        "vicw_standalone.cli.sleep",
        "Background jobs: consolidation, dreams, entity resolution, reconciliation, expiry, and undo.",
    ),
    "connect": (
        "vicw_standalone.agent_hooks.cli",
        "Connect a coding agent: write its hooks, its MCP server and a skill, once you have seen what changes.",
    ),
    "disconnect": (
        "vicw_standalone.agent_hooks.cli",
        "Remove what `vicw connect` has written, and any other hook that runs `vicw hook`.",
    ),
    "hook": (
        "vicw_standalone.agent_hooks.cli",
        "Answer a hook of a coding agent, whose event is on standard input.",
    ),
    "forget": (
        "vicw_ingest.erasure.cli",
        "Erase for good, and prove that nothing is left. To keep the past readable, use `vicw retract` instead.",
    ),
}


class Commands(TyperGroup):
    """The root of the commands. ``commands`` has a substitute with the help of each one until it is chosen."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (_, summary) in COMMANDS.items():
            self.add_command(TyperCommand(name, help=summary))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, those of other packages last."""
        for name, summary in plugins.summaries().items():
            if name not in self.commands:
                self.add_command(TyperCommand(name, help=summary))
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the chosen command in the place of its substitute, and return it."""
        chosen, features = args[0], typer.Typer()
        if chosen in COMMANDS:
            import_module(COMMANDS[chosen][0]).register(features)
        else:
            plugins.register(features, chosen)
        if features.registered_commands or features.registered_groups:
            self.add_command(typer.main.get_group(features).commands[chosen])
        return super().resolve_command(ctx, args)
