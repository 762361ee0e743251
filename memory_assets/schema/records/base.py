"""What all records share: the base class and bounded numbers."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

MEMORY_MD = "MEMORY.md"
"""Name of the curated file in the workspace; its lines are cited as `MEMORY.md:LINE`."""

Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


def column(description: str) -> Any:
    """Returns a required field with the description that the UI and `docs/tables.md` show."""
    return Field(description=description)


class Record(BaseModel):
    """A frozen row; `key` names the columns that identify it, by default the first one."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    key: ClassVar[tuple[str, ...]] = ()
