"""Check stage: fields within their limits, no secrets, and an extraction that is possible.

Each limit is a setting, and its error names the setting.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from vicw_ingest.knowledge.pages import KnowledgePage, parse_pages
from vicw_ingest.secrets.request_scan import Masked, mask_secrets
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model.triggers import MAX_PHRASE_WORDS, phrase_of
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.extraction import Extraction
from vicw_shared.wire.ingest import Extract, IngestRequest, Item


@dataclass(frozen=True, slots=True)
class Checked:
    """A request that can be stored, and the ``pages`` among its items, by index."""

    request: IngestRequest
    pages: Mapping[int, KnowledgePage]


def check_fields(
    request: IngestRequest, limits: LimitSettings, secrets: Literal["mask", "refuse", "off"]
) -> tuple[IngestRequest, Masked]:
    """Check that a request, of items or patches, is within all limits, and treat its ``secrets`` as the setting says.

    Return it without secrets, and those masked. Raises InvalidInputError.
    """
    _check_limits(request, limits)
    return mask_secrets(request, secrets)


async def check(request: IngestRequest, limits: LimitSettings, *, has_model: bool) -> Checked:
    """Parse the pages of a request whose items are whole, and check that its extraction is possible.

    Raises InvalidInputError for a request that cannot be stored. ``has_model``: there is a language model.
    """
    pages: Mapping[int, KnowledgePage] = {}
    if any(item.page is not None for item in request.items):
        # In a thread, so that other requests go on: a long page takes a second.
        request, pages = await asyncio.to_thread(parse_pages, request, limits)
    _check_extraction(request, has_model)
    return Checked(request, pages)


def _check_limits(request: IngestRequest, limits: LimitSettings) -> None:
    """Raise InvalidInputError with the first 20 problems: fields over their limits, and repeated ids."""
    problems = list(_problems(request, limits))
    if problems:
        raise InvalidInputError(*problems[:20])


def _problems(request: IngestRequest, limits: LimitSettings) -> Iterator[FieldProblem]:
    yield from _names({"context": request.context, "domain": request.domain, "flow_id": request.flow_id}, limits)
    if len(request.items) > limits.items:
        yield FieldProblem(
            "items",
            f"has {len(request.items)} items, over the limit of {limits.items}",
            "Send them in several requests, or raise VICW_MAX_ITEMS",
        )
        return
    seen: dict[str, int] = {}
    for index, item in enumerate(request.items):
        path = f"items[{index}]"
        if item.id is not None and seen.setdefault(item.id, index) != index:
            yield FieldProblem(
                f"{path}.id",
                f"is also the id of items[{seen[item.id]}]",
                "Give each item of a request an id of its own",
            )
        yield from _item_problems(path, item, limits)


def _item_problems(path: str, item: Item, limits: LimitSettings) -> Iterator[FieldProblem]:
    yield from _text(f"{path}.text", item.text, limits)
    names = {
        "id": item.id,
        "name": item.name,
        "subtype": item.subtype,
        "speaker": item.speaker,
        "user": item.user,
        "flow_id": item.flow_id,
        "bucket": item.bucket,
        "source": item.source,
    }
    names |= {f"tags[{i}]": tag for i, tag in enumerate(item.tags)}
    names |= {f"about[{i}]": name for i, name in enumerate(item.about)}
    yield from _names({f"{path}.{field}": name for field, name in names.items()}, limits)
    yield from _trigger_problems(path, item, limits)
    for field, values in (("tags", item.tags), ("about", item.about)):
        if len(values) > limits.tags:
            yield FieldProblem(
                f"{path}.{field}",
                f"has {len(values)} entries, over the limit of {limits.tags}",
                "Give fewer, or raise VICW_MAX_TAGS",
            )
    if item.metadata and len(json.dumps(item.metadata, ensure_ascii=False).encode()) > limits.metadata_bytes:
        yield FieldProblem(
            f"{path}.metadata",
            f"is over {limits.metadata_bytes} bytes as JSON",
            "Put large content into text, or raise VICW_MAX_METADATA_BYTES",
        )
    if item.extraction is not None:
        yield from _extraction_problems(f"{path}.extraction", item.extraction, limits)


def _trigger_problems(path: str, item: Item, limits: LimitSettings) -> Iterator[FieldProblem]:
    if len(item.trigger_phrases) > limits.trigger_phrases:
        yield FieldProblem(
            f"{path}.trigger_phrases",
            f"has {len(item.trigger_phrases)} entries, over the limit of {limits.trigger_phrases}",
            "Give fewer, or raise VICW_MAX_TRIGGER_PHRASES",
        )
        return
    for index, phrase in enumerate(item.trigger_phrases):
        where = f"{path}.trigger_phrases[{index}]"
        yield from _names({where: phrase}, limits)
        words = len(phrase_of(phrase).split())
        if not words:
            yield FieldProblem(where, "has no letter and no digit", "Give words that a question may have")
        elif words > MAX_PHRASE_WORDS:
            yield FieldProblem(
                where, f"has {words} words, over {MAX_PHRASE_WORDS}", "Give the words that tell it apart"
            )


def _extraction_problems(path: str, extraction: Extraction, limits: LimitSettings) -> Iterator[FieldProblem]:
    if len(extraction) > limits.extracted:
        yield FieldProblem(
            path,
            f"has {len(extraction)} nodes and relations, over the limit of {limits.extracted}",
            "Cut the item into several, or raise VICW_MAX_EXTRACTED",
        )
        return
    for kind in ("entities", "events", "concepts"):
        for index, node in enumerate(getattr(extraction, kind)):
            where = f"{path}.{kind}[{index}]"
            yield from _names({f"{where}.{f}": getattr(node, f) for f in ("id", "name", "subtype")}, limits)
            yield from _text(f"{where}.description", node.description, limits)
    for index, relation in enumerate(extraction.relations):
        where = f"{path}.relations[{index}]"
        yield from _names({f"{where}.{f}": getattr(relation, f) for f in ("source", "type", "target")}, limits)
        yield from _names({f"{where}.desc": relation.desc}, limits)


def _text(field: str, text: str | None, limits: LimitSettings) -> Iterator[FieldProblem]:
    if text is not None and len(text) > limits.text_chars:
        yield FieldProblem(
            field,
            f"has {len(text)} characters, over the limit of {limits.text_chars}",
            "Cut it into several items, or raise VICW_MAX_TEXT_CHARS",
        )


def _names(names: dict[str, str | None], limits: LimitSettings) -> Iterator[FieldProblem]:
    for field, name in names.items():
        if name is not None and len(name) > limits.name_chars:
            yield FieldProblem(
                field,
                f"has {len(name)} characters, over the limit of {limits.name_chars}",
                "Shorten it, or raise VICW_MAX_NAME_CHARS",
            )


def _check_extraction(request: IngestRequest, has_model: bool) -> None:
    """Raise InvalidInputError for an unavailable extraction mode, or for extractions that contradict the mode."""
    if request.extract is Extract.LLM and not has_model:
        raise InvalidInputError(
            FieldProblem(
                "extract",
                'is "llm", and there is no language model here',
                "Use auto, caller, rules or none, or have VICW_LLM_URL set",
            )
        )
    if request.extract is Extract.NONE:
        given = [index for index, item in enumerate(request.items) if item.extraction]
        if given:
            raise InvalidInputError(
                FieldProblem(
                    f"items[{given[0]}].extraction",
                    'is given although extract is "none"',
                    'Remove it, or use extract "caller"',
                )
            )
