"""Secret scan of all strings of a request, before the request is processed."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from typing import Any, Literal

from prometheus_client import Counter
from pydantic import BaseModel

from vicw_core.secrets.detector import find_secrets, mask, placeholder
from vicw_core.secrets.named_secrets import kind_of_value
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.wire.ingest import IngestRequest, Item, MaskedSecret
from vicw_shared.wire.knowledge import PageRef

SECRETS = Counter("vicw_ingest_secrets_total", "Secrets found in requests, one a field and kind", ["kind", "outcome"])
_MOST_PROBLEMS = 20
_NAMES: Mapping[type[BaseModel], frozenset[str]] = {
    IngestRequest: frozenset({"context", "domain", "flow_id"}),
    Item: frozenset({"id", "flow_id", "user", "about", "trigger_phrases"}),
    PageRef: frozenset({"folder", "path"}),
}
"""Fields that identify data or decide who sees it. They are never masked, because two masked names would be equal."""

type Masked = Mapping[int, tuple[MaskedSecret, ...]]


def mask_secrets(request: IngestRequest, what: Literal["mask", "refuse", "off"]) -> tuple[IngestRequest, Masked]:
    """Return the request without its secrets, and the masked secrets by item index.

    Requests that differ only in their secrets become equal. Raises InvalidInputError, which names fields and kinds but
    never a secret: for every secret if ``what`` is ``refuse``, else for secrets in fields that identify data.
    """
    if what == "off":
        return request, {}
    scan = _SecretScan(masks=what == "mask")
    clean = scan.clean(request, "")
    if scan.problems:
        for kind, count in scan.refused.items():
            SECRETS.labels(kind, "refused").inc(count)
        raise InvalidInputError(*list(scan.problems)[:_MOST_PROBLEMS])
    masked: dict[int, list[MaskedSecret]] = {}
    for secret in scan.masked:
        SECRETS.labels(secret.kind, "masked").inc()
        masked.setdefault(_index(secret.field), []).append(secret)
    return clean, {index: tuple(secrets) for index, secrets in masked.items()}


def require_no_secret(field: str, name: str, what: Literal["mask", "refuse", "off"]) -> None:
    """Raise InvalidInputError with the kinds of the secrets in a name. Names are not masked: two would be equal."""
    kinds = dict.fromkeys(secret.kind for secret in find_secrets(name)) if what != "off" else {}
    for kind in kinds:
        SECRETS.labels(kind, "refused").inc()
    if kinds:
        raise InvalidInputError(*(_problem(field, kind, is_name=True) for kind in kinds))


def _index(field: str) -> int:
    """Return the index of the item that contains a field: all masked fields belong to items."""
    return int(field.removeprefix("items[").partition("]")[0])


class _SecretScan:
    """Scan of one request. Dictionaries keep the findings in order, with each field and kind once."""

    def __init__(self, *, masks: bool) -> None:
        self._masks = masks
        self.masked: dict[MaskedSecret, None] = {}
        self.problems: dict[FieldProblem, None] = {}
        self.refused: Tally[str] = Tally()

    def clean[M: BaseModel](self, model: M, path: str) -> M:
        """Return the model without its secrets, or the model itself if it has none."""
        names = _NAMES.get(type(model), frozenset())
        changed = {}
        for name in type(model).model_fields:
            value = getattr(model, name)
            clean = self._value(value, f"{path}.{name}" if path else name, is_name=name in names)
            if clean is not value:
                changed[name] = clean
        return model.model_copy(update=changed) if changed else model

    def _value(self, value: Any, path: str, key: str = "", *, is_name: bool = False) -> Any:
        if type(value) is str:  # excludes enumeration members: they are not the caller's text
            return self._text(value, path, key, is_name=is_name)
        if isinstance(value, BaseModel):
            return self.clean(value, path)
        if isinstance(value, tuple | list):
            parts = [self._value(part, f"{path}[{n}]", key, is_name=is_name) for n, part in enumerate(value)]
            return value if all(map(_same, parts, value)) else type(value)(parts)
        if isinstance(value, dict):
            members = {name: self._value(part, *self._member(name, path)) for name, part in value.items()}
            return value if all(map(_same, members.values(), value.values())) else members
        return value

    def _member(self, name: str, path: str) -> tuple[str, str]:
        """Return the path of an object's member with masked secrets, and its name. The name is scanned, too."""
        self._text(name, path, "", is_name=True)
        return f"{path}.{mask(name, find_secrets(name))}", name

    def _text(self, text: str, path: str, key: str, *, is_name: bool) -> str:
        named_kind = kind_of_value(key, text) if key else None
        secrets = [] if named_kind is not None else find_secrets(text)
        kinds = dict.fromkeys([named_kind] if named_kind is not None else [secret.kind for secret in secrets])
        for kind in kinds:
            if self._masks and not is_name:
                self.masked[MaskedSecret(field=path, kind=kind)] = None
            else:
                self.refused[kind] += 1
                self.problems[_problem(path, kind, is_name=is_name)] = None
        return placeholder(named_kind) if named_kind is not None else mask(text, secrets) if secrets else text


def _problem(path: str, kind: str, *, is_name: bool) -> FieldProblem:
    if is_name:
        return FieldProblem(path, f"contains a secret ({kind}) in a name", "Use another name: names are not masked")
    return FieldProblem(path, f"contains a secret ({kind})", "Remove it, or set VICW_INGEST_SECRETS to mask")


def _same(one: object, other: object) -> bool:
    return one is other
