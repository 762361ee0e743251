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

SlogAction = Literal["install", "configure", "deploy", "fix", "create", "ingest", "restart"]
SLOG_ACTIONS: tuple[SlogAction, ...] = get_args(SlogAction)
"""What an entry of the slog says was done."""

AdrStatus = Literal["proposed", "accepted", "shipped", "superseded", "deprecated", "rejected"]
ADR_STATUSES: tuple[AdrStatus, ...] = get_args(AdrStatus)
"""What the status of a decision record may be: one word."""

DocumentKind = Literal["pdf", "epub", "html", "markdown", "docx", "text", "page", "repository"]

FileFormat = Literal["jsonl", "csv", "parquet"]
