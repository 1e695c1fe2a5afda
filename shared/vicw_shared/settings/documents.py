"""Settings of the import of documents."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class DocumentSettings(BaseSettings):
    """What the parsing of one document may take, in the process that does it; beyond that the document is refused."""

    model_config = config("VICW_DOCUMENTS_")

    memory_mb: int = Field(1024, ge=128, description="Address space of the process, in MiB (limited on Linux alone)")
    seconds: int = Field(
        60, gt=0, description="Processor time (not limited on Windows), and time without an answer, in s"
    )
    text_mb: int = Field(64, gt=0, description="Text of the document, in MiB")
    unpacked_mb: int = Field(512, gt=0, description="Unpacked size of a packed document (.docx, .epub, …), in MiB")
