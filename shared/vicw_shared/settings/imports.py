"""Settings of the import of uploaded files."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class ImportSettings(BaseSettings):
    """What `POST /import` may take, in each process of the service."""

    model_config = config("VICW_IMPORT_")

    folder: Path | None = Field(
        None,
        description="Folder of uploaded files, until they are read; default: `imports` in the data directory, on the "
        "platform `vicw-imports` among the system's temporary files. The files are gone after the import",
    )
    upload_mb: int = Field(1024, gt=0, description="Size of one upload, in MiB; a larger one gets 413")
    total_mb: int = Field(
        2048, gt=0, description="Size of all uploads at once, in MiB; with more, the next upload gets 429"
    )
    files: int = Field(10_000, gt=0, description="Files in one upload; one with more gets 413")
    jobs: int = Field(2, gt=0, description="Imports at once, with uploads under way; with more, the next gets 429")
    tenant_jobs: int | None = Field(None, gt=0, description="Imports of one tenant at once; default: as many as of all")
    items: int = Field(
        1_000_000,
        gt=0,
        description="Items in one upload; one with more fails (each takes some 200 bytes of memory until the end)",
    )
    upload_seconds: float = Field(3600.0, gt=0, description="Time limit of receiving one upload, in seconds; else 413")
    seconds: float = Field(21_600.0, gt=0, description="Time limit of one import, in seconds; then it has failed")
    memory_mb: int = Field(
        1024, ge=128, description="Address space of the process that reads one upload, in MiB (limited on Linux alone)"
    )
    listed: int = Field(
        1000, ge=0, description="Refusals, files passed over and notes that a job lists, of each so many; all count"
    )
