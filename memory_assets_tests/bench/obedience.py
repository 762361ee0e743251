"""Whether verdicts on planted sessions are right: kept, broken, or that the rule did not apply.

The sessions (`memory_assets_tests/bench/obedience`) were written by people who had not seen the code. `sessions.json` is there to
develop with. `opened.json` was put away: 56 of 82 verdicts were right when it was opened, then its errors were read. `put_away.json`
was written and judged after that; its errors were not looked at.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.harnesses.tool_calls import render_call
from memory_assets.stages.friction.obedience import acts_of, judge
from memory_assets.stages.friction.visible_rules import read_rule
from memory_assets.stages.friction.week import ToolCall, read_week
from memory_assets_tests.bench.row import Row

FOLDER = Path(__file__).with_name("obedience")
SHELLS = ("Bash", "bash", "exec_command", "shell")
Judged = tuple[str, dict[str, Any], str]


def obedience(small: bool = False) -> list[Row]:
    """Returns the share of right verdicts of each set."""
    return [_row(part) for part in ("sessions", "opened", "put_away")[: 1 if small else None]]


def _row(part: str) -> Row:
    verdicts = list(judged(part))
    right = sum(rule["state"] == state for _, rule, state in verdicts)
    return Row(
        f"obedience: verdicts right, {part}",
        right / len(verdicts),
        f"{right} of {len(verdicts)}",
        floor=0.95,
    )


def judged(part: str) -> Iterator[Judged]:
    """Yields the session, the rule as labelled, and the verdict."""
    for session in json.loads((FOLDER / f"{part}.json").read_text()):
        acts = [act for call in calls_of(session) for act in acts_of(call)]
        for labelled in session["rules"]:
            rule = read_rule(labelled["rule"])
            verdict = judge(rule, acts) if rule else None
            yield session["session"], labelled, verdict.state if verdict else "does not apply"


def calls_of(session: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of the session, from messages as a reader gives them."""
    rows = list(_messages(session))
    sessions = pl.DataFrame(
        {"session_id": [session["session"]], "project": [""], "folder": [""], "person": ["mira"]}
    )
    return read_week(pl.DataFrame(rows), sessions.with_columns(day=pl.lit(1))).calls


def _messages(session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = datetime(2026, 10, 1, 9, tzinfo=UTC)
    shared = {
        "session_id": session["session"],
        "window_id": "w",
        "is_user_turn": False,
        "is_error": False,
        "tool_name": None,
    }
    for place, turn in enumerate(session["turns"]):
        row = {
            **shared,
            "message_id": f"m{place}",
            "ordinal": 2 * place,
            "event_at": at + timedelta(seconds=place),
        }
        if turn["who"] == "tool":
            name = turn["name"]
            text = render_call(name, turn["input"])
            yield {
                **row,
                "author": "assistant",
                "kind": "tool_call",
                "text": text,
                "tool_name": name,
            }
            result = {
                "text": str(turn["result"]),
                "is_error": turn["is_error"],
                "ordinal": 2 * place + 1,
            }
            yield {
                **row,
                **result,
                "message_id": f"r{place}",
                "author": "tool",
                "kind": "tool_result",
                "tool_name": name,
            }
        else:
            author = "owner" if turn["who"] == "owner" else "assistant"
            yield {
                **row,
                "author": author,
                "kind": "text",
                "text": turn["text"],
                "is_user_turn": author == "owner",
            }
