"""The fixed values of columns and requests. Imports nothing slow: the command line needs this
module at every start.
"""

from typing import Literal, get_args

Harness = Literal["claude_code", "codex", "cursor", "gemini", "opencode", "pi", "qwen", "copilot"]
HARNESS_TITLES = {
    "claude_code": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "pi": "pi",
    "qwen": "Qwen Code",
    "copilot": "Copilot CLI",
}
"""Harness → its name for people."""
*_OTHERS, _LAST = HARNESS_TITLES.values()
HARNESS_NAMES = f"{', '.join(_OTHERS)} or {_LAST}"
Trigger = Literal["compaction", "ended", "tail", "open"]
Author = Literal["owner", "assistant", "subagent", "tool", "file", "web", "injected"]
Priority = Literal["high", "medium", "low"]
MARKS: dict[Priority, str] = {"high": "🔴", "medium": "🟡", "low": "🟢"}
"""Priority → its mark in texts."""

Category = Literal[
    "preferences", "rules-conventions", "system-architecture", "operations", "memory-system",
    "projects",
    "people-relationships", "health", "hobbies",
]  # fmt: skip
Strength = Literal["explicit", "implied", "inferred"]
Sentiment = Literal["frustrated", "excited", "uncertain", "neutral"]
QuoteSource = Literal["request", "plan", "commit", "pull request", "summary", "state"]
Scope = Literal["project", "person", "everyone"]
Link = Literal["answers", "answered by", "from", "cured by", "then"]
"""What a result is to the other message beside it."""

Relation = Literal["same", "conflict", "doubtful"]
SAME, CONFLICT, DOUBTFUL = get_args(Relation)
"""The relations of a merge edge."""

MEMORY_KINDS = ("fact", "narrative")
"""Kinds of results that are memories. The others are segments and messages."""

FileFormat = Literal["jsonl", "csv", "parquet"]

NamedKind = Literal[
    "path", "symbol", "make target", "just recipe", "package script", "mise task", "command",
    "flag", "dependency", "environment variable", "setting", "branch", "commit", "pull request",
    "decision record",
]  # fmt: skip
"""What a text names that can be looked up in a repository."""
