"""Harnesses whose transcripts are recognised and cannot be read yet."""

from memory_assets.harnesses.declaration import (
    DATA,
    HarnessDeclaration,
    Location,
    Record,
    message_of,
    type_of,
)


def _is_cursor(record: Record) -> bool:
    has_content = isinstance(message_of(record).get("content"), list)
    return has_content and "role" in record and "type" not in record


def _is_droid(record: Record) -> bool:
    return type_of(record) == "session_start" and "id" in record


NOT_READ = (
    HarnessDeclaration(
        title="Gemini CLI's old format", file_names=("session-????-??-??T??-??-*.json",)
    ),
    HarnessDeclaration(
        title="Cursor",
        transcripts=(Location(".cursor/projects"),),
        is_record=_is_cursor,
        tables=frozenset({"cursorDiskKV"}),
    ),
    HarnessDeclaration(
        title="Cline",
        transcripts=(Location(".cline/data/sessions"),),
        file_names=("*.messages.json", "api_conversation_history.json"),
    ),
    HarnessDeclaration(
        title="Droid", transcripts=(Location(".factory/sessions"),), is_record=_is_droid
    ),
    HarnessDeclaration(
        title="Goose",
        transcripts=(Location("goose/sessions", parent=DATA),),
        tables=frozenset({"schema_version", "sessions", "messages"}),
    ),
    HarnessDeclaration(
        title="Kimi Code",
        transcripts=(Location(".kimi-code/sessions"),),
        file_names=("wire.jsonl",),
    ),
)
