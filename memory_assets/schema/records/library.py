"""Rows of the library: the slog."""

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from memory_assets.schema.records.base import Count, Record
from memory_assets.schema.vocabulary import SlogAction


class SlogEntry(Record):
    """An entry of the slog (`workspace/slog.jsonl`): what a person, an agent or this program did to a system."""

    key: ClassVar = ("number",)
    number: Count = Field(description="Its place in the slog by time, from 0.")
    timestamp: datetime = Field(description="When it was done.")
    action: SlogAction = Field(description="What was done: install, configure, deploy, fix, create, ingest or restart.")
    tool: str = Field(description="What it was done to or with, such as caddy.")
    detail: str = Field(description="What was done, in a sentence; secrets masked.")
    reason: str = Field(description="Why; empty where nobody said.")
