"""The fixed words of columns and requests; imports nothing slow, because each start of the command
line needs them.
"""

from typing import Literal, get_args

Harness = Literal["claude_code", "pi", "codex"]
Trigger = Literal["compaction", "ended", "tail", "open"]
Author = Literal["owner", "assistant", "subagent", "tool", "file", "web", "injected"]
Priority = Literal["high", "medium", "low"]
MARKS: dict[Priority, str] = {"high": "🔴", "medium": "🟡", "low": "🟢"}
"""The mark of each priority in texts."""

Category = Literal[
    "preferences", "rules-conventions", "system-architecture", "operations", "memory-system",
    "projects",
    "people-relationships", "health", "hobbies",
]  # fmt: skip
Strength = Literal["explicit", "implied", "inferred"]
Sentiment = Literal["frustrated", "excited", "uncertain", "neutral"]
Scope = Literal["project", "person", "everyone"]
Relation = Literal["same", "conflict", "doubtful"]
SAME, CONFLICT, DOUBTFUL = get_args(Relation)
"""The relations of a merge edge."""

FileFormat = Literal["jsonl", "csv", "parquet"]
