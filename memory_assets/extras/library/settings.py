"""The setting of the library."""

from pydantic import BaseModel, Field


class LibrarySettings(BaseModel):
    """Where decision records are."""

    adr_folders: str = Field(
        "", description="Folders of decision records, as in PATH, beside those of projects."
    )
