"""Reads the briefing that the pipeline prepared last, for the folder of this process."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_assets.schema.requests import BriefRequest
from memory_assets.stages.deliver.silence import alarm
from memory_assets.store import ready


@dataclass(frozen=True)
class Briefing:
    """The briefing for the next session, as the pipeline prepared it."""

    text: str
    path: Path
    written_at: datetime | None
    warnings: tuple[str, ...] = ()
    """That there is no briefing yet, or that events are not processed."""


def latest_briefing(data: Path, request: BriefRequest) -> Briefing:
    """Returns the briefing in the data folder; its text is empty where there is none yet."""
    root = str(data)
    folder = ready.here()
    project = request.project or ""
    lean_path = ready.briefing_path(root, folder, project)
    path = Path(ready.full_path(root, lean_path) if request.full else lean_path)
    written_at = None
    text = ""
    if path.is_file():
        written_at = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
        session = request.session or ""
        text = ready.read_briefing(root, folder, session, project, is_full=request.full)
    warnings = (None if text else ready.nothing_yet(root), alarm(root))
    return Briefing(text, path, written_at, tuple(filter(None, warnings)))
