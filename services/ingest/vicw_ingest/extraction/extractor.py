"""Extraction without an LLM: rules for sentences, parsers for code. Runs in one thread, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from functools import cache

import structlog
from prometheus_client import Counter

from vicw_ingest.extraction.code.code_analysis import MOSTLY_BROKEN
from vicw_ingest.extraction.code.code_mapper import map_code
from vicw_ingest.extraction.code.commit_mapper import map_commit
from vicw_ingest.extraction.code.commits import Commit, read_commit, read_commits
from vicw_ingest.extraction.code.fences import fences, without
from vicw_ingest.extraction.code.languages import languages_of_path
from vicw_ingest.extraction.code.trace_mapper import map_traces, traces_in
from vicw_ingest.extraction.code.worker_process import read_code
from vicw_ingest.extraction.model import SourceText, TextExtraction
from vicw_ingest.extraction.rules.extractor import RuleExtractor

_log = structlog.get_logger()
FAILED = Counter("vicw_ingest_extraction_failures_total", "Texts that the rules could not read; stored without")


_THREAD = ThreadPoolExecutor(1, thread_name_prefix="reader")
"""One thread per process: extraction is CPU-bound, and its models are large."""


async def read(sources: Sequence[SourceText]) -> list[TextExtraction]:
    """Return the extraction of each text; an empty one if extraction fails, because the text is stored anyway."""
    return await asyncio.get_running_loop().run_in_executor(_THREAD, _read, sources)


@cache
def _rules() -> RuleExtractor:
    return RuleExtractor()


def _read(sources: Sequence[SourceText]) -> list[TextExtraction]:
    codes = [code for source in sources for code in _each(_take_code, [source], ("", TextExtraction()))]
    prose = [replace(source, text=rest) for source, (rest, _) in zip(sources, codes, strict=True)]
    readings = _each(_rules().read, prose, TextExtraction())
    for reading, (_, code) in zip(readings, codes, strict=True):
        reading.add(code)
    return readings


def _each[R](read: Callable[[Sequence[SourceText]], list[R]], sources: Sequence[SourceText], nothing: R) -> list[R]:
    """Process the texts as one batch; if it fails, one by one, so that one bad text does not affect the others."""
    try:
        return read(sources)
    except Exception:
        _log.exception("texts could not be read by rules", texts=len(sources))
        if len(sources) > 1:
            return [found for source in sources for found in _each(read, [source], nothing)]
        FAILED.inc()
        return [deepcopy(nothing)]


def _take_code(sources: Sequence[SourceText]) -> list[tuple[str, TextExtraction]]:
    """Return the prose of each text, with blanks in place of code, and the extraction of the code."""
    return [_whole(source) or _quoted(source) for source in sources]


def _whole(source: SourceText) -> tuple[str, TextExtraction] | None:
    if not source.may_be_code:
        return None
    code = read_code(source.text, path=source.path)
    if code is None:
        return None
    defines, reads_well = bool(code.symbols or code.imports), code.broken <= MOSTLY_BROKEN
    if source.only_by_name:
        is_code = defines and reads_well
    else:
        is_code = defines or (reads_well and bool(languages_of_path(source.path or "")))
    if not is_code:
        return None
    return "", map_code(code, "code", 0, source.name, whole=True)


def _quoted(source: SourceText) -> tuple[str, TextExtraction]:
    reading, spans = TextExtraction(), []
    for number, fence in enumerate(fences(source.text) if "```" in source.text or "~~~" in source.text else ()):
        spans.append(fence.span)
        text = source.text[fence.code.start : fence.code.end]
        code = read_code(text, path=fence.path, language=fence.info or None)
        if code is not None:
            reading.add(map_code(code, f"code {number}", fence.code.start))
    traces = traces_in(source.text)
    reading.add(map_traces(traces))
    spans += [trace.span for trace in traces]
    for number, commit in enumerate(_commits(source)):
        spans += commit.apart
        if number == 0:
            reading.add(map_commit(commit))
    return without(source.text, spans) if spans else source.text, reading


def _commits(source: SourceText) -> list[Commit]:
    """Return the commits in a text. A text with a speaker has none, unless it is a commit: the speaker wrote it."""
    if source.speaker is not None and not source.is_commit:
        return []
    commit = read_commit(source.text, known=source.is_commit)
    return read_commits(source.text) or ([commit] if commit is not None else [])
