"""Settings of the readers of files."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class ReaderSettings(BaseSettings):
    """What readers of files hold in memory, and how far archives may expand; what is beyond it is refused by name."""

    model_config = config("VICW_READERS_")

    text_mb: int = Field(8, gt=0, description="Size of a text file that is read as a whole, in MiB")
    line_mb: int = Field(32, gt=0, description="Length of a line of JSON Lines, tables and other texts, in MiB")
    value_mb: int = Field(
        64, gt=0, description="Length of one value of a JSON file, such as a conversation of an export, in MiB"
    )
    mail_mb: int = Field(8, gt=0, description="Size of the texts of one mail, in MiB; more of it is left out, and said")
    archive_files: int = Field(200_000, gt=0, description="Files in a .zip")
    archive_mb: int = Field(
        1024,
        gt=0,
        description="Unpacked size of a .zip that is never too much, in MiB; a larger one may have "
        "VICW_READERS_ARCHIVE_EXPANSION times its own size",
    )
    archive_expansion: int = Field(250, gt=0, description="Unpacked bytes of a file in a .zip for each packed one")
    member_mb: int = Field(32, gt=0, description="Unpacked size of a file in a .zip that is never too much, in MiB")
    copy_mb: int = Field(
        1024, gt=0, description="Unpacked size of a packed document, which is read from the disk, in MiB"
    )
