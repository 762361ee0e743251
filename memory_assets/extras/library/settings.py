"""The setting of the library."""

from pydantic import BaseModel, Field


class LibrarySettings(BaseModel):
    """Where the library looks for decision records."""

    adr_folders: str = Field(
        "", description="Folders of decision records, as in PATH, beside those of projects."
    )
