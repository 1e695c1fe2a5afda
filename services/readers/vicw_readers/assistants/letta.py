"""Reader of agents of Letta, in the files that it exports."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.assistants.conversations import (
    Conversation,
    ConversationTurn,
    dig,
    digest,
    list_in,
    records_of,
    text_in,
    time_in,
)
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, bounded_name

_OF_MEMORY = ("block_ids", "in_context_message_ids")
_SPEAKERS = {"user": "user", "user_message": "user", "assistant": "assistant", "assistant_message": "assistant"}


class LettaReader:
    """An agent of Letta, with its memory and messages."""

    name = "letta"
    title = "Letta agent file"
    files = ("*.af", "*.json")
    keeps = "blocks of memory, and messages of user and assistant; an agent is a flow"
    leaves = "tools, system prompts, reasoning"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are agents with blocks of memory, or one of the earlier form.

        In a large file the blocks come too late to be seen: then what an agent says of them counts.
        """
        return any(
            ("agents" in one and ("blocks" in one or start.suffix == ".af" or _has_memory(one)))
            or ("core_memory" in one and "messages" in one)
            for one in start.objects
        )

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the blocks, then the messages of each agent."""
        for value in json_values(source):
            agents = list_in(value, "agents") or [value]
            for block in (*list_in(value, "blocks"), *list_in(value, "core_memory")):
                yield from _block(source, block, agents[0])
            for agent in agents:
                yield from records_of(source, _conversation(agent), "Letta")


def _has_memory(value: object) -> bool:
    """Return whether an agent refers to its memory or messages: other programs write ``agents`` and ``tools``, too."""
    agents = list_in(value, "agents")
    return any(isinstance(agent, dict) and not agent.keys().isdisjoint(_OF_MEMORY) for agent in agents)


def _block(source: SourceFile, block: object, agent: object) -> Iterator[Record]:
    label, text = text_in(block, "label") or "memory", text_in(block, "value")
    if text is not None and text.strip():
        key = text_in(block, "id") or digest(label, text_in(agent, "name") or "")
        fields = {
            "id": f"letta#{key}",
            "text": text,
            "name": bounded_name(label),
            "subtype": "memory",
            "source": "letta",
        }
        yield source.item(fields, usual_context="Letta")


def _conversation(agent: object) -> Conversation:
    name = text_in(agent, "name")
    key = text_in(agent, "id") or digest(name or "", str(dig(agent, "created_at")))
    turns = []
    for message in list_in(agent, "messages"):
        speaker = _SPEAKERS.get(text_in(message, "role") or text_in(message, "message_type") or "")
        parts = dig(message, "content") or dig(message, "text")
        parts = parts if isinstance(parts, list) else [parts]
        texts = (part if isinstance(part, str) else text_in(part, "text") for part in parts)
        text = "\n\n".join(filter(None, texts))
        if speaker is not None:
            own_id = text_in(message, "id")
            turns.append(
                ConversationTurn(f"{key}#{own_id}" if own_id else None, speaker, text, time_in(message, "created_at"))
            )
    return Conversation(f"letta#{key}", name, time_in(agent, "created_at"), tuple(turns), is_whole=False)
