"""The briefing, kept ready as a file: MEMORY.md, what waits for the owner, recent 🔴 facts, today's work.

It holds no clock, so it stays the same byte for byte until something in it changes, and prompt caches survive. It keeps
within its budget in a fixed order of importance; what is cut is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

BUDGET_TOKENS = 2_000
CHARS_PER_TOKEN = 4
RECENT_FACTS = 12
MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}


@dataclass(frozen=True)
class Part:
    """One section of the briefing; `lines` may be cut from the end."""

    title: str
    lines: Sequence[str]


def render_briefing(
    memory_md: str, memories: pl.DataFrame, *, pending: int, owner: str, as_of: date | None, budget_tokens: int = BUDGET_TOKENS
) -> str:
    """Returns the briefing within the budget; `as_of` is the day of the newest memory."""
    parts = [
        Part("", _memory_lines(memory_md)),
        Part("Recent facts", _recent(memories, memory_md, owner)),
    ]
    head = [f"# Memory briefing{f' (known up to {as_of})' if as_of else ''}"]
    if pending:
        head.append(f"📋 {pending} pending memory proposal{'' if pending == 1 else 's'} in REVIEW.md: review when ready.")
    return _fit(head, [part for part in parts if part.lines], budget_tokens * CHARS_PER_TOKEN)


def _fit(head: Sequence[str], parts: Sequence[Part], budget: int) -> str:
    note = "_Cut to fit; `memory recall QUESTION` finds the rest._"
    lines, left, is_cut = [*head], budget - sum(len(line) + 1 for line in head) - len(note) - 2, False
    for part in parts:
        block = ["", *([f"## {part.title}"] if part.title else [])]
        taken = []
        for line in part.lines:
            cost = len(line) + 1 + (0 if taken else sum(len(b) + 1 for b in block))
            if cost > left:
                is_cut = True
                break
            left -= cost
            taken.append(line)
        if taken:
            lines += [*block, *taken]
    return "\n".join([*lines, *(["", note] if is_cut else [])]) + "\n"


def _memory_lines(memory_md: str) -> list[str]:
    lines = [line.rstrip() for line in memory_md.replace("\r\n", "\n").split("\n")]
    return [line for line in lines if line and not line.startswith("# ")]


def _recent(memories: pl.DataFrame, memory_md: str, owner: str) -> list[str]:
    shown = memories.filter(
        (pl.col("state") == "active")
        & (pl.col("kind") == "fact")
        & (pl.col("priority") == "high")
        & ((pl.col("scope") != "person") | (pl.col("person") == owner))
    ).sort(["event_at", "id"], descending=[True, False])
    rows = [row for row in shown.head(RECENT_FACTS * 4).iter_rows(named=True) if row["text"] not in memory_md]
    return [
        f"- {MARKS[row['priority']]} ({row['event_at']:%Y-%m-%d}) {row['text']} [{row['project']}]"
        for row in rows[:RECENT_FACTS]
    ]
