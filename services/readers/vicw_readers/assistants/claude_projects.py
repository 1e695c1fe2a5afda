"""Reader of the projects and the memory in Claude's data export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vicw_readers.assistants.conversations import dig, list_in, text_in
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError, bounded_id, bounded_name

_MEMORY = "conversations_memory"


class ClaudeProjectsReader:
    """Claude's data export: projects with their documents, and what Claude remembers."""

    name = "claude-projects"
    title = "projects and memory of a Claude export"
    files = ("projects.json", "projects/*.json", "memories.json")
    keeps = "instructions and documents of projects, an item each; memories, one for each project"
    leaves = "who may see a project"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are projects with documents or instructions, or memories of conversations."""
        return any(
            _MEMORY in one or "project_memories" in one or ("uuid" in one and "prompt_template" in one)
            for one in start.objects
        )

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield documents, instructions and memories."""
        for value in json_values(source):
            yield from _memories(source, value) if text_in(value, "uuid") is None else _project(source, value)


def _project(source: SourceFile, value: object) -> Iterator[Record]:
    uuid, name = text_in(value, "uuid") or "", text_in(value, "name") or "Project"
    about = [text for key in ("description", "prompt_template") if (text := text_in(value, key))]
    if about:
        yield _item(source, uuid, f"{name} > Instructions", "\n\n".join(about), "document", name)
    for n, document in enumerate(list_in(value, "docs")):
        title = text_in(document, "filename") or f"Document {n + 1}"
        if (text := text_in(document, "content")) is None:
            yield source.refuse(f"the document {title!r} of the project {name!r} has no text")
            continue
        yield _item(source, text_in(document, "uuid") or f"{uuid}#{n}", f"{name} > {title}", text, "document", name)


def _project_names(source: SourceFile, projects: Iterable[str]) -> dict[str, str]:
    """Return the names of projects by uuid, from the files beside the memories; without those that cannot be read."""
    names: dict[str, str] = {}
    for path in ("projects.json", *(f"projects/{uuid}.json" for uuid in projects)):
        file = source.beside(path)
        try:
            for project in json_values(file) if file is not None else ():
                if (uuid := text_in(project, "uuid")) and (name := text_in(project, "name")):
                    names[uuid] = name
        except UnreadableFileError:  # refused when its turn comes
            continue
    return names


def _memories(source: SourceFile, value: object) -> Iterator[Record]:
    account = text_in(value, "account_uuid") or "account"
    projects = dig(value, "project_memories")
    by_project = projects if isinstance(projects, dict) else {}
    names = _project_names(source, by_project)
    memories = {"": dig(value, _MEMORY), **by_project}
    for project, text in memories.items():
        if isinstance(text, str) and text.strip():
            key = f"{account}#memory{f'-{project}' if project else ''}"
            name = names.get(project, project)
            yield _item(source, key, f"{name} > Memory" if project in names else "Memory", text, "memory", name)


def _item(source: SourceFile, key: str, name: str, text: str, subtype: str, project: str) -> Record:
    return source.item(
        {
            "id": bounded_id(key),
            "text": text,
            "name": bounded_name(name),
            "subtype": subtype,
            "source": "claude",
            "metadata": {"project": project} if project else {},
        },
        usual_context="Claude",
    )
