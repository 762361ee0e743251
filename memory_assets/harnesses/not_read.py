"""Harnesses whose transcripts are recognised and cannot be read yet."""

from memory_assets.harnesses.declaration import (
    CONFIG,
    DATA,
    HarnessDeclaration,
    Location,
    Record,
    type_of,
)


def _is_droid(record: Record) -> bool:
    return type_of(record) == "session_start" and "id" in record


NOT_READ = (
    HarnessDeclaration(
        title="Gemini CLI's old format",
        file_names=(r"/session-\d{4}-\d\d-\d\dT\d\d-\d\d-[^/]*\.json$",),
    ),
    HarnessDeclaration(
        title="Cursor's editor",
        transcripts=(Location("Cursor/User/globalStorage/state.vscdb", parent=CONFIG),),
        tables=frozenset({"cursorDiskKV"}),
    ),
    HarnessDeclaration(
        title="Cline",
        transcripts=(Location(".cline/data/sessions"),),
        file_names=(r"/([^/]+)/\1\.messages\.json$", r"/api_conversation_history\.json$"),
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
        file_names=(r"/agents/[^/]+/wire\.jsonl$",),
    ),
)
