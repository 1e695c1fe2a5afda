"""Settings of the mirror."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config, tenant_name


class MirrorSettings(BaseSettings):
    """The mirror: what is remembered as a folder of Markdown (docs/mirror.md)."""

    model_config = config("VICW_MIRROR_")

    path: Path | None = Field(
        None, description="Folder of the mirror: new, empty, or one that VICW made; none is kept without"
    )
    tenant: Annotated[str, AfterValidator(tenant_name)] = Field("default", description="Tenant whose memory it shows")
    viewer: str | None = Field(
        None,
        description="For whom it is: nobody shows what is public and portable; a person's name, besides what is about "
        "that person; * everything",
    )
    look_seconds: float = Field(
        5.0, gt=0, description="How often changes are brought into it, in seconds; where that takes long, less often"
    )
