"""Selection of the reader for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vicw_ingest.extraction.code.languages import languages_of_path
from vicw_shared.domains import CODING
from vicw_standalone.sources.chats import looks_like_chats, read_chat_archive, read_chats
from vicw_standalone.sources.jsonl import read_jsonl
from vicw_standalone.sources.plain import read_plain
from vicw_standalone.sources.records import NothingToReadError, Record, Skipped, SourceFile, UnreadableFileError, shown
from vicw_standalone.sources.sessions import looks_like_session, read_session
from vicw_standalone.sources.text_decoder import read_text

_MARKDOWN = {".md", ".markdown", ".mdx"}
_JSON_LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_CODING = {
    *(".css", ".scss", ".less", ".html", ".htm", ".vue", ".svelte", ".sql", ".json", ".yaml", ".yml", ".toml"),
    *(".ini", ".cfg", ".conf", ".xml", ".proto", ".graphql", ".tf", ".gradle", ".cmake", ".mk", ".ps1", ".bat"),
    *(".kt", ".kts", ".scala", ".swift", ".groovy", ".lua", ".m", ".mm"),
    *(".pl", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".dart", ".zig", ".nim", ".f90", ".vb"),
}
_CODING_NAMES = {"makefile", "dockerfile", "rakefile", "gemfile", "cmakelists.txt"}
_GENERATED = (".ipynb", ".svg", ".map", ".min.js", ".min.css", ".lock", "package-lock.json", "pnpm-lock.yaml")


def read_paths(
    paths: Sequence[Path],
    *,
    context: str | None = None,
    domain: str | None = None,
    flow: str | None = None,
) -> Iterator[Record]:
    """Yield all records of files and folders, one path after the other.

    Without ``context`` it is the one in the data, else the default of the format, else the name of the folder, or of
    the file without its suffixes. Ids start with the path relative to the given folder, so the same command gives
    the same ids.
    """
    for path in paths:
        resolved = path.resolve()
        if resolved.is_dir():
            yield from _folder(resolved, context, domain, flow)
        else:
            stem = resolved.name.removeprefix(".").split(".")[0]
            yield from _file(SourceFile(path, resolved.name, stem or "files", context, domain, flow))


def is_generated(path: Path) -> bool:
    """Return whether a file is generated and not for people, by its name."""
    return path.name.lower().endswith(_GENERATED)


def _folder(root: Path, context: str | None, domain: str | None, flow: str | None) -> Iterator[Record]:
    from vicw_standalone.sources.walk import walk

    for entry in walk(root):
        if not isinstance(entry, Path):
            yield entry
        elif is_generated(entry):
            yield Skipped(shown(entry), "is a generated file")
        else:
            name = entry.relative_to(root).as_posix()
            source = SourceFile(entry, name, root.name or "files", context, domain, flow)
            yield from _file(source, in_folder=True)


def _file(source: SourceFile, *, in_folder: bool = False) -> Iterator[Record]:
    try:
        yield from _records(source)
    except NothingToReadError as error:
        # Empty and binary files are normal in a folder; given by name they are a mistake.
        yield Skipped(source.shown, error.reason) if in_folder else source.refuse(error.reason)
    except UnreadableFileError as error:
        yield source.refuse(error.reason, error.line)
    except OSError as error:
        yield source.refuse(f"cannot be read: {error.strerror or error}")


def _records(source: SourceFile) -> Iterator[Record]:
    if source.path.exists() and not source.path.is_file():
        raise UnreadableFileError("is neither a file nor a folder")  # reading a pipe could wait for ever
    name = Path(source.name).name.lower()
    suffix = Path(name).suffix
    if name.endswith(_JSON_LINES):
        return read_session(source) if looks_like_session(source) else read_jsonl(source)
    if suffix == ".zip":
        return read_chat_archive(source)
    if suffix == ".json" and looks_like_chats(source.path) and (chats := read_chats(source)):
        return chats
    text = read_text(source.path)
    # The parsers of the next two are slow to import, and one file needs one of them at most.
    if suffix in _MARKDOWN:
        from vicw_standalone.sources.markdown import read_markdown

        return read_markdown(source, text)
    if suffix and languages_of_path(name):
        from vicw_standalone.sources.code import read_code

        return read_code(source, text)
    return read_plain(source, text, CODING if suffix in _CODING or name in _CODING_NAMES else None)
