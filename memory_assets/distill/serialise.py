"""Writes a window out for a model: what was said, by whom and when, fenced as quoted material.

Takes the messages of a window; gives text. `[HH:MM]` stamps are in the owner's zone; tool calls and results are cut;
nothing in it can end the fence, because the fence carries a hash of what it encloses.
"""

import hashlib
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from memory_assets.distill.exchanges import Row
from memory_assets.records import Author
from memory_assets.tokens import count_tokens

SERIALISER_VERSION = "serialise/1"

TOOL_CHARS = 1_500
"""Tool calls and results are cut here (A21, DUET)."""

TOKENS_A_CALL = 35_000
"""A longer window is split between segments, never cut (DUET)."""

_ROLES: dict[Author, str] = {
    "owner": "OWNER",
    "assistant": "ASSISTANT",
    "subagent": "SUB-AGENT",
    "tool": "TOOL",
    "file": "FILE",
    "web": "WEB",
    "injected": "HARNESS",
}


def serialise(messages: Sequence[Row], zone: ZoneInfo) -> str:
    """Returns the messages as fenced text, a line with the date wherever a new day begins."""
    lines, day = [], None
    for message in messages:
        at = message["event_at"].astimezone(zone)
        if at.date() != day:
            day = at.date()
            lines.append(f"Date: {day.isoformat()}")
        lines.append(f"[{at:%H:%M}] {_ROLES[message['author']]}: {shown(message)}")
    body = "\n\n".join(lines)
    mark = hashlib.sha256(body.encode()).hexdigest()[:12]
    return f"=== quoted transcript {mark} begins ===\n{body}\n=== quoted transcript {mark} ends ==="


def shown(message: Row) -> str:
    """Returns the text of a message as a model sees it."""
    text = message["text"]
    if message["kind"] == "tool_result":
        error = " (error)" if message["is_error"] else ""
        return f"[toolResult {message['tool_name'] or 'tool'}{error}] {_cut(text)}"
    shown_text = text if message["kind"] == "text" else _cut(text)
    images = f" [{message['image_count']} image(s)]" if message["image_count"] else ""
    return shown_text + images


def split_to_fit(segments: Sequence[Sequence[int]], messages: Sequence[Row], tokens: int = TOKENS_A_CALL) -> list[list[int]]:
    """Returns the rows of each call: whole segments while they fit; one that is too long is split by messages."""
    calls: list[list[int]] = []
    used = 0
    for segment in segments:
        size = sum(_tokens(messages[row]) for row in segment)
        for rows, cost in [(list(segment), size)] if size <= tokens else [([row], _tokens(messages[row])) for row in segment]:
            if calls and used + cost <= tokens:
                calls[-1] += rows
                used += cost
            else:
                calls.append(rows)
                used = cost
    return calls


def content_hash(messages: Sequence[Row]) -> str:
    """Returns the hash of everything that a model would be shown, but for the zone."""
    parts = (f"{m['message_id']}\x1f{m['event_at'].isoformat()}\x1f{shown(m)}" for m in messages)
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()


def _tokens(message: Row) -> int:
    return count_tokens(shown(message)) + 8


def _cut(text: str) -> str:
    return text if len(text) <= TOOL_CHARS else f"{text[:TOOL_CHARS]}… [{len(text) - TOOL_CHARS:,} more characters]"
