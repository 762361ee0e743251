"""`memory library`: the log of what was done to systems, and decision records."""

from typing import Annotated

import typer

from memory_assets.interfaces.cli.commands import Json, RowCount, completing, group, placed, reply_to
from memory_assets.interfaces.verbs import SLOG
from memory_assets.interfaces.views import library as view
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.vocabulary import SLOG_ACTIONS

app = group("Knowledge beside sessions: the log of what was done to systems, and decision records.")
slog_app = group("The slog: an append-only log of what people, agents and memory itself did to systems.")
app.add_typer(slog_app, name="slog")
adr_app = group("Architecture decision records (ADRs) of your projects; their files are only read.")
app.add_typer(adr_app, name="adr")
placed.add(SLOG.name)

ADD = "memory library slog add deploy worker 'Published worker:20260302' --reason 'subscription fix'"


@slog_app.command("add", epilog=f"Example: `{ADD}`")
def slog_add(
    action: Annotated[
        str, typer.Argument(help=f"What was done: {', '.join(SLOG_ACTIONS)}.", autocompletion=completing(*SLOG_ACTIONS))
    ],
    tool: Annotated[str, typer.Argument(help="What it was done to or with, such as caddy.")],
    detail: Annotated[str, typer.Argument(help="What was done, in a sentence.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: Json = False,
) -> Reply:
    """Append an entry. Secrets are masked."""
    return reply_to(SLOG, action=action, tool=tool, detail=detail, reason=reason)


@slog_app.command("list", epilog="Example: `memory library slog list -n 5`")
def slog_list(limit: RowCount = 20, as_json: Json = False) -> Reply:
    """List the latest entries, those of memory itself included: promotions, forgettings, what-ifs."""
    return reply_to(SLOG, limit=limit)


@slog_app.command("search", epilog="Example: `memory library slog search deploy worker`")
def slog_search(
    words: Annotated[list[str], typer.Argument(help="Words that an entry must have, in any field.")],
    limit: RowCount = 20,
    as_json: Json = False,
) -> Reply:
    """List the latest entries that have all of these words."""
    return reply_to(SLOG, search=" ".join(words), limit=limit)


@adr_app.command("list", epilog="Example: `memory library adr list`")
def adr_list(as_json: Json = False) -> Reply:
    """List the decision records with their status, what superseded them, and which are in force."""
    found = MemoryAgent().adrs()
    return Reply({"records": found}, view.render_adrs(found))


@adr_app.command("check", epilog="Example: `memory library adr check`")
def adr_check(as_json: Json = False) -> Reply:
    """Check status, numbers and supersession of the decision records. Fails if one has a problem."""
    found = MemoryAgent().adrs()
    return Reply({"records": found}, view.render_problems(found), int(any(one.problems for one in found)))
