"""All settings as a documented ``.env`` file. A setting without a description cannot be rendered."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from vicw_shared import settings

CONCERNS: tuple[type[BaseSettings], ...] = (
    settings.ServerSettings,
    settings.StorageSettings,
    settings.Neo4jSettings,
    settings.QdrantSettings,
    settings.RedisSettings,
    settings.EmbeddingSettings,
    settings.IngestSettings,
    settings.LlmSettings,
    settings.ReindexSettings,
    settings.RetrievalSettings,
    settings.RerankSettings,
    settings.LimitSettings,
    settings.WorkerSettings,
    settings.SleepSettings,
    settings.ConsolidationSettings,
    settings.DreamSettings,
    settings.EvictionSettings,
    settings.ResolveSettings,
    settings.MirrorSettings,
    settings.LogSettings,
    settings.MetricsSettings,
    settings.TraceSettings,
)
# Not settings of a service: the only ones that the client reads from the environment.
_CLIENT = """
## The Python client and the `vicw` command.

# Address of the server that they talk to where none is given
#VICW_URL=http://127.0.0.1:8080

# Address that questions go to, where retrieval is a service of its own; default: VICW_URL
#VICW_RETRIEVE_URL=

# Key that they send (`vicw keys create` makes one); a server on this machine's loopback asks for none
#VICW_API_KEY=
"""
_HEAD = """\
# Every setting of VICW, each with its default. Set what you want to change in the environment; of the platform in
# containers, in a file `.env` beside docker-compose.yml.
# A secret (a password, a key) can be read from a file, too: name that in its variable with _FILE behind it.
# Made by `python -m vicw_shared.settings`; a test keeps it in step with the code.
"""


def render() -> str:
    """Return the text of ``.env.example``."""
    return _HEAD + "".join(f"\n{block}" for concern in CONCERNS for block in _blocks(concern)) + _CLIENT


def _blocks(concern: type[BaseSettings]) -> Iterator[str]:
    title = (concern.__doc__ or "").strip().splitlines()[0]
    yield f"## {title}\n"
    for name, field in concern.model_fields.items():
        if not field.description:
            raise ValueError(f"{concern.__name__}.{name} has no description")
        comment = textwrap.fill(field.description, 118, initial_indent="# ", subsequent_indent="# ")
        yield f"{comment}\n#{variable(concern, name)}={default_of(name, field)}\n"


def variable(concern: type[BaseSettings], name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{concern.model_config.get('env_prefix', '')}{name.upper()}"


def default_of(name: str, field: FieldInfo) -> str:
    """Return a setting's default as written in the environment; empty if there is none."""
    if name == "data_dir":
        return "~/.local/share/vicw"
    return "" if field.default is None else str(field.default).lower() if field.default is False else str(field.default)
