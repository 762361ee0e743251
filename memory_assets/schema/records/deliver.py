"""Rows of what harnesses, people and programs sent."""

from datetime import datetime

from memory_assets.schema.records.base import Count, Record, column


class SentEvent(Record):
    """An event that a harness, a person or a program sent through the spool; each event once."""

    event_id: str = column(
        "The sender's id, prefixed with `spool-`; its ledger line has the same id."
    )
    name: str = column(
        "Name of the event, such as `memory/session.ended`; `memory docs hooks` lists them."
    )
    subject: str = column("What it is about: the id of a session or of a proposal, or a day.")
    harness: str | None = column("Which coding agent sent it.")
    details: str = column("Its other fields (counts, a reason), as JSON.")
    sent_at: datetime = column("When it was sent.")
    received_at: datetime = column("When it was read from the spool.")


class DeadLetter(Record):
    """A spool line that cannot be parsed or is not permitted, quarantined with the reason."""

    letter_id: str = column("Hash of the line and its position in the spool.")
    reason: str = column("Why it was quarantined.")
    name: str = column("Name of the event, if known.")
    bytes: Count = column("Length of the line.")
    file: str = column("File below `spool/aside/` that holds the line, secrets masked.")
    spooled_in: str = column("Spool file that contained it.")
    start: Count = column("Its byte offset in that file.")
    received_at: datetime = column("When it was quarantined.")
