"""The commands that keep the memory well: ingest, doctor."""

import typer

from memory_assets.interfaces.cli.commands import KEEP_WELL, Json, Since
from memory_assets.interfaces.cli.everyday import built_reply
from memory_assets.interfaces.views.health import render_health
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent

app = typer.Typer()


@app.command(rich_help_panel=KEEP_WELL, epilog="Example: `memory ingest`")
def ingest(since: Since = None, as_json: Json = False) -> Reply:
    """Read new transcripts and update the memory."""
    from memory_assets.runs.build import build

    return built_reply(build(since=since))


@app.command(rich_help_panel=KEEP_WELL, epilog="Example: `memory doctor --json`")
def doctor(as_json: Json = False) -> Reply:
    """Check that every file, message and memory is accounted for; the exit code is 1 if not."""
    health = MemoryAgent().health()
    return Reply(health, render_health(health), exit_code=int(not health.is_well))
