"""What all records share: the base class, bounded numbers and the words that several stages use."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

MEMORY_MD = "MEMORY.md"
"""Name of the curated file in the workspace; its lines are cited as `MEMORY.md:LINE`."""
Author = Literal["owner", "assistant", "subagent", "tool", "file", "web", "injected"]
Priority = Literal["high", "medium", "low"]
Category = Literal[
    "preferences", "rules-conventions", "system-architecture", "operations", "memory-system", "projects",
    "people-relationships", "health", "hobbies",
]  # fmt: skip
Strength = Literal["explicit", "implied", "inferred"]
Sentiment = Literal["frustrated", "excited", "uncertain", "neutral"]
Scope = Literal["project", "person", "everyone"]
Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """A frozen row; `key` names the columns that identify it, by default the first one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: ClassVar[tuple[str, ...]] = ()
