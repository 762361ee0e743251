"""Serialises messages for a model: text, author and time, fenced as quoted material.

`[HH:MM]` stamps are in the owner's time zone. Tool calls and results are truncated. No content can close the fence, because the
fence has a hash of its content. Images are numbered in the order of the messages.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from memory_assets.schema.records import Author
from memory_assets.stages.distill.rules.exchanges import Row

SERIALISER_VERSION = "serialise/2"

TOOL_CHARS = 1_500
"""Length to which tool calls and results are truncated (A21, DUET)."""

_ROLES: dict[Author, str] = {"subagent": "SUB-AGENT", "injected": "HARNESS"}
"""Roles that are not the name of the author in upper case."""


def serialise(messages: Sequence[Row], zone: ZoneInfo, *, before: Sequence[Row] = ()) -> str:
    """Returns the messages as fenced text, with a date line at the start of each day.

    `before` are messages of an earlier call; they have a fence of their own.
    """
    known = [fenced("end of what was read before", "\n\n".join(_lines(before, zone)))] if before else []
    return "\n\n".join([*known, fenced("transcript", "\n\n".join(_lines(messages, zone)))])


@cache
def read_prompt(stage: str, name: str) -> str:
    """Returns a prompt of the package: the Markdown file of that name in the folder of the stage."""
    return files(f"memory_assets.stages.{stage}").joinpath(f"{name}.md").read_text(encoding="utf-8")


def fence_memories(memories: Iterable[tuple[str, str]]) -> str:
    """Returns earlier memories, pairs of id and text, as fenced text; empty if there are none."""
    lines = [f"[memory id: {name}] {text}" for name, text in memories]
    return fenced("earlier memories", "\n".join(lines)) if lines else ""


def shown(message: Row) -> str:
    """Returns the text of a message as shown to a model."""
    text = message["text"]
    if message["kind"] == "tool_result":
        error = " (error)" if message["is_error"] else ""
        return f"[toolResult {message['tool_name'] or 'tool'}{error}] {_cut(text)}"
    return text if message["kind"] == "text" else _cut(text)


def content_hash(messages: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """Returns the hash of everything that is shown to a model, except for the time zone."""
    parts = (f"{m['message_id']}\x1f{m['event_at'].isoformat()}\x1f{m['image_count']}\x1f{shown(m)}" for m in messages)
    shown_again = (shown(m) for m in before)
    return hashlib.sha256("\x1e".join([*parts, "\x1d", *shown_again]).encode()).hexdigest()


def _lines(messages: Sequence[Row], zone: ZoneInfo) -> Iterator[str]:
    day, image = None, 0
    for message in messages:
        at = message["event_at"].astimezone(zone)
        if at.date() != day:
            day = at.date()
            yield f"Date: {day.isoformat()}"
        numbers = range(image + 1, image + 1 + message["image_count"])
        image += message["image_count"]
        pictures = "".join(f" [image {number}]" for number in numbers)
        yield f"[{at:%H:%M}] {_ROLES.get(message['author'], message['author'].upper())}: {shown(message)}{pictures}"


def fenced(title: str, body: str) -> str:
    """Returns the text between two marker lines that it cannot contain."""
    mark = hashlib.sha256(body.encode()).hexdigest()[:12]
    return f"=== quoted {title} {mark} begins ===\n{body}\n=== quoted {title} {mark} ends ==="


def _cut(text: str) -> str:
    return text if len(text) <= TOOL_CHARS else f"{text[:TOOL_CHARS]}… [{len(text) - TOOL_CHARS:,} more characters]"
