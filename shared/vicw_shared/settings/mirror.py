"""Settings of the mirror."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config, tenant_name


class MirrorSettings(BaseSettings):
    """The mirror: a folder of Markdown files with a tenant's items (docs/mirror.md)."""

    model_config = config("VICW_MIRROR_")

    path: Path | None = Field(
        None, description="Folder of the mirror: new, empty, or one that VICW made; none is kept without"
    )
    tenant: Annotated[str, AfterValidator(tenant_name)] = Field("default", description="Tenant to mirror")
    viewer: str | None = Field(
        None,
        description="Viewer of the mirror: unset for public and portable items, a person's name for the items about "
        "that person as well, * for everything",
    )
    poll_seconds: float = Field(
        5.0, gt=0, description="How often changes are brought into it, in seconds; where that takes long, less often"
    )
