"""Extraction without an LLM: parsers for code, an extractor for prose. Runs in one thread, off the event loop.

The port ``Extractor`` is the plug-in for prose, which is called here. With a language model, ``llm_queue``
(``PendingExtractor``) takes stored items later, and ``llm`` (``ModelExtractor``) asks the model about each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace

import structlog
from prometheus_client import Counter

from vicw_core.code.code_analysis import MOSTLY_BROKEN
from vicw_core.code.languages import languages_of_path
from vicw_core.code.worker_process import analyse_code
from vicw_ingest.extraction.code.code_mapper import map_code
from vicw_ingest.extraction.code.commits import Commit, map_commit, parse_commit, parse_commits
from vicw_ingest.extraction.code.fences import blank_out, fences
from vicw_ingest.extraction.code.trace_mapper import map_traces, traces_in
from vicw_ingest.extraction.item_text import ItemText
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.ports import Extractor

_log = structlog.get_logger()
FAILED = Counter("vicw_ingest_extraction_failures_total", "Texts that the rules could not read; stored without")


_THREAD = ThreadPoolExecutor(1, thread_name_prefix="reader")
"""One thread per process: extraction is CPU-bound, and its models are large."""


async def extract(sources: Sequence[ItemText], extractor: Extractor | None) -> list[TextExtraction]:
    """Return the extraction of each text; an empty one if extraction fails, because the text is stored anyway.

    Without an ``extractor``, only code is extracted.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREAD, _extract, sources, extractor)


def _extract(sources: Sequence[ItemText], extractor: Extractor | None) -> list[TextExtraction]:
    codes = [code for source in sources for code in _in_batch(_extract_code, [source], ("", TextExtraction()))]
    if extractor is None:
        return [extraction for _, extraction in codes]
    prose = [replace(source, text=rest) for source, (rest, _) in zip(sources, codes, strict=True)]
    extractions = _in_batch(extractor.extract, prose, TextExtraction())
    for extraction, (_, code) in zip(extractions, codes, strict=True):
        extraction.add(code)
    return extractions


def _in_batch[R](function: Callable[[Sequence[ItemText]], list[R]], sources: Sequence[ItemText], default: R) -> list[R]:
    """Process the texts as one batch; if it fails, one by one, so that one bad text does not affect the others."""
    try:
        results = function(sources)
        if len(results) != len(sources):
            raise ValueError(f"{len(results)} extractions of {len(sources)} texts")
        return results
    except Exception:
        _log.exception("texts could not be read by rules", texts=len(sources))
        if len(sources) > 1:
            return [result for source in sources for result in _in_batch(function, [source], default)]
        FAILED.inc()
        return [deepcopy(default)]


def _extract_code(sources: Sequence[ItemText]) -> list[tuple[str, TextExtraction]]:
    """Return the prose of each text, with blanks in place of code, and the extraction of the code."""
    return [_whole_code(source) or _embedded_code(source) for source in sources]


def _whole_code(source: ItemText) -> tuple[str, TextExtraction] | None:
    if not source.may_be_code:
        return None
    code = analyse_code(source.text, path=source.path)
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


def _embedded_code(source: ItemText) -> tuple[str, TextExtraction]:
    extraction, spans = TextExtraction(), []
    for number, fence in enumerate(fences(source.text) if "```" in source.text or "~~~" in source.text else ()):
        spans.append(fence.span)
        text = source.text[fence.code.start : fence.code.end]
        code = analyse_code(text, path=fence.path, language=fence.info or None)
        if code is not None:
            extraction.add(map_code(code, f"code {number}", fence.code.start))
    traces = traces_in(source.text)
    extraction.add(map_traces(traces))
    spans += [trace.span for trace in traces]
    for number, commit in enumerate(_commits(source)):
        spans += commit.non_prose
        if number == 0:
            extraction.add(map_commit(commit))
    return blank_out(source.text, spans) if spans else source.text, extraction


def _commits(source: ItemText) -> list[Commit]:
    """Return the commits in a text. A text with a speaker has none, unless it is a commit: the speaker wrote it."""
    if source.speaker is not None and not source.is_commit:
        return []
    commit = parse_commit(source.text, is_message=source.is_commit)
    return parse_commits(source.text) or ([commit] if commit is not None else [])
