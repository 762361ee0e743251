"""Rows of what harnesses, people and programs sent."""

from datetime import datetime

from pydantic import Field

from memory_assets.schema.records.base import Count, Record


class SentEvent(Record):
    """An event that a harness, a person or a program sent through the spool; each event once."""

    event_id: str = Field(
        description="The sender's id, prefixed with `spool-`; its ledger line has the same id."
    )
    name: str = Field(
        description="Name of the event, such as `memory/session.ended`; docs/hooks.md lists them."
    )
    subject: str = Field(
        description="What it is about: the id of a session or of a proposal, or a day."
    )
    harness: str | None = Field(description="Which coding agent sent it.")
    details: str = Field(description="Its other fields (counts, a reason), as JSON.")
    sent_at: datetime = Field(description="When it was sent.")
    received_at: datetime = Field(description="When it was read from the spool.")


class DeadLetter(Record):
    """A spool line that cannot be parsed or is not permitted, quarantined with the reason."""

    letter_id: str = Field(description="Hash of the line and its position in the spool.")
    reason: str = Field(description="Why it was quarantined.")
    name: str = Field(description="Name of the event, if known.")
    bytes: Count = Field(description="Length of the line.")
    file: str = Field(description="File below `spool/aside/` that holds the line, secrets masked.")
    spooled_in: str = Field(description="Spool file that contained it.")
    start: Count = Field(description="Its byte offset in that file.")
    received_at: datetime = Field(description="When it was quarantined.")
