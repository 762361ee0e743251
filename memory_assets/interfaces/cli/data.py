"""`memory data`: look at tables, export them, back everything up, rebuild."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_assets.interfaces import verbs
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.cli.everyday import built_reply
from memory_assets.interfaces.views import row_cards
from memory_assets.interfaces.views.next_steps import after_table_export
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.interfaces.views.transfer import render_backed_up, render_exported
from memory_assets.schema.vocabulary import FileFormat

app = commands.group("Look at tables, export and back up, rebuild.")


@app.command(
    epilog="Example: `memory data export observations -o observations.jsonl`, or `memory data "
    "export --all ~/memory-export`"
)
def export(
    table: Annotated[
        str | None,
        typer.Argument(
            help="A table, such as observations.", autocompletion=commands.completing(kind="table")
        ),
    ] = None,
    everything: Annotated[
        Path | None,
        typer.Option(
            "--all",
            metavar="FOLDER",
            help="Write everything into this new folder, for `memory data import`.",
        ),
    ] = None,
    format: Annotated[FileFormat, typer.Option(help="File format.")] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: stdout.")
    ] = None,
    as_of: commands.AsOf = None,
    as_json: commands.Json = False,
) -> Reply:
    """Write a table as JSON Lines, CSV or Parquet; with --all, everything into a folder."""
    if (table is None) == (everything is None):
        raise typer.BadParameter("Name a table, or give --all FOLDER.")
    if everything is not None:
        if as_of is not None:
            raise typer.BadParameter("--as-of goes with the table memories, not with --all.")
        from memory_assets.memory.transfer import export_all

        return commands.view_reply(render_exported, export_all(everything))
    assert table is not None
    from memory_assets.memory import tables

    past_day = commands.day_of(as_of)
    if output is not None:
        count = tables.export_file(table, output, format, past_day)
        written = {"table": table, "path": output, "rows": count}
        lines = [f"{count:,} rows in {output}"]
        return Reply(written, lines, next_step=after_table_export(table))
    if as_json:
        return Reply({"table": table, "rows": tables.export_rows(table, past_day)})
    if format == "parquet" and sys.stdout.isatty():
        raise typer.BadParameter("Parquet cannot be written to a terminal; name a file with -o.")
    write = tables.open_export(table, format, past_day)

    def to_stdout() -> int:
        write(sys.stdout.buffer)
        sys.stdout.flush()
        return 0

    return Reply(None, afterwards=to_stdout)


@app.command("import", epilog="Example: `memory data import ~/memory-export --store ~/memory`")
def import_(
    folder: Annotated[Path, typer.Argument(help="A folder that `memory data export --all` wrote.")],
) -> Reply:
    """Make a store from an exported folder; refuses a data folder that has a store."""
    from memory_assets.memory.running import import_folder

    return built_reply(import_folder(folder))


@app.command(epilog="Example: `memory data backup ~/backups/`")
def backup(
    file: Annotated[
        str,
        typer.Argument(
            path_type=str,
            help="File to write; a folder (it exists, or ends in /) gets one named after the "
            "present moment.",
        ),
    ],
) -> Reply:
    """Write one compressed file with everything that cannot be rebuilt; runs may go on
    meanwhile.
    """
    from memory_assets.memory.transfer import back_up

    return commands.view_reply(render_backed_up, back_up(file))


@app.command(epilog="Example: `memory data restore ~/backups/memory-20260801-120000.tar.zst`")
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `memory data backup` wrote.")],
) -> Reply:
    """Make a store from a backup and build its tables; refuses a data folder that has a store."""
    from memory_assets.memory.running import restore as restore_backup

    return built_reply(restore_backup(file))


@app.command(epilog="Example: `memory data show observations --day 2026-04-08 --limit 5`")
def show(
    table: commands.Table,
    day: Annotated[
        str | None,
        typer.Option(
            help="Only the rows of this day.", autocompletion=commands.completing(kind="part")
        ),
    ] = None,
    as_of: commands.AsOf = None,
    limit: commands.RowCount = 10,
    every: Annotated[bool, typer.Option("--all", help="Print every field of each row.")] = False,
) -> Reply:
    """Print rows of a table: of each a title, the fields that matter, and its ids."""
    from memory_assets.memory import tables

    if day is not None and as_of is not None:
        raise typer.BadParameter("Give --day or --as-of, not both.")
    rows = tables.show(table, day=day, as_of=commands.day_of(as_of), limit=limit)
    return commands.view_reply(row_cards.render_rows if every else row_cards.render_cards, rows)


@app.command(epilog="Example: `memory data sample 20 --seed $(git rev-parse HEAD)`")
def sample(
    count: Annotated[int, typer.Argument(min=1, help="Number of facts.")] = 10,
    seed: Annotated[
        str, typer.Option(help="Any word or number; the same seed draws the same facts.")
    ] = "0",
    table: Annotated[
        str | None,
        typer.Option(
            help="Draw rows of this table instead.",
            autocompletion=commands.completing(kind="table"),
        ),
    ] = None,
) -> Reply:
    """Print random facts that the write gate allowed, to judge their quality."""
    from memory_assets.memory import tables

    sampled = tables.sample(count, seed, table)
    if table:
        return commands.view_reply(row_cards.render_cards, sampled)
    next_step = ""
    if sampled.rows:
        first_id = sampled.rows[0]["id"]
        next_step = f"`memory explain {first_id}` shows where the first one comes from."
    return commands.view_reply(row_cards.render_facts, sampled, next_step=next_step)


@app.command(epilog="Example: `memory data rebuild`")
def rebuild(
    indexes: Annotated[
        bool, typer.Option("--indexes", help="Only the indexes and Chroma's copy, from the tables.")
    ] = False,
    reflections: Annotated[
        bool,
        typer.Option(
            "--reflections",
            help="Only the reflections of all days, weeks and months, with the timeline.",
        ),
    ] = False,
) -> Reply:
    """Delete everything derived and rebuild it from the archive, the ledger and the workspace."""
    from memory_assets.memory import running

    if indexes and reflections:
        raise typer.BadParameter("Give --indexes or --reflections, not both.")
    part = "indexes" if indexes else "reflections" if reflections else "all"
    return built_reply(running.rebuild(part))


@app.command(epilog="Example: `memory data backfill --from 2026-04-01`")
def backfill(first: commands.FirstDay = None, last: commands.LastDay = None) -> Reply:
    """Extract these days again with the model and the present prompt; stored answers are not paid
    again.
    """
    from memory_assets.memory.running import backfill as backfill_days

    return built_reply(backfill_days(commands.day_of(first), commands.day_of(last)))


@app.command(epilog="Example: `memory data flush`")
def flush() -> Reply:
    """End every open session now and extract its facts."""
    from memory_assets.memory.running import flush as flush_sessions

    return built_reply(flush_sessions())


commands.add(app, verbs.FEEDBACK, path="data feedback")


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.memory.running import Built
    from memory_assets.memory.tables import ShownRows
    from memory_assets.memory.transfer import BackedUp
    from memory_assets.memory.verb_answers import Rating

    builds = ("import", "restore", "rebuild", "backfill", "flush")
    return {f"data {name}": Built for name in builds} | {
        "data export": dict[str, Any],
        "data backup": BackedUp,
        "data show": ShownRows,
        "data sample": ShownRows,
        "data feedback": Rating,
    }
