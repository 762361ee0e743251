"""Generates what follows from declarations: `make docs`.

`docs/tables.md` from the records, the MCP tools (`interfaces/mcp/tools.json`) from the verbs, and what a shell completes
(`interfaces/completion.json`) from the commands, and the JSON Schema of their answers (`interfaces/answers.json`) from the types.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import typer

from memory_assets.interfaces.cli.app import CORE_GROUPS, make_app
from memory_assets.interfaces.completion import COMMANDS
from memory_assets.interfaces.mcp.protocol import TOOLS
from memory_assets.interfaces.verbs import VERBS, Verb
from memory_assets.memory.completion import find_words
from memory_assets.schema.extras import Extra, extras
from memory_assets.schema.frames import key_of, partitioned_by, record_of, schema_of
from memory_assets.schema.tables import table_names
from memory_assets_tests.answer_schemas import EXTRAS, describe_answers
from memory_assets_tests.conftest import REPOSITORY

FIXED_KINDS = ("table", "setting")
"""Kinds whose words do not depend on the store."""

TABLES_MD = REPOSITORY / "docs" / "tables.md"


def render_dictionary() -> str:
    """Returns the dictionary of all tables and columns as Markdown: the content of `docs/tables.md`."""
    head = [
        "# The tables\n",
        "Generated from `memory_assets/schema/records/` by `make docs`. Each table is Parquet below `MEMORY_DATA/tables/`,",
        'in Hive folders, and a polars frame by `memory_assets.scan("observations")`. Times are UTC; a `day` is the local day,',
        "in the owner's zone, of the latest event of a window.\n",
        "Other programs read the same rows, with the same columns and types:\n",
        "| reader | `observations`, from the folder `MEMORY_DATA` |\n|---|---|",
        '| polars | `pl.scan_parquet("tables/observations/**/*.parquet", hive_partitioning=True)` |',
        "| DuckDB | `FROM read_parquet('tables/observations/**/*.parquet', hive_partitioning = true)` |",
        '| pyarrow | `ds.dataset("tables/observations", partitioning=days)` with '
        '`days = ds.partitioning(pa.schema({"day": pa.date32()}), flavor="hive")` |',
        '| pandas | `pd.read_parquet("tables/observations")` |\n',
        "Partition columns are in the folder names, not in the files. pyarrow and pandas do not recognise dates in them: pass",
        "the type to pyarrow, as above; convert the column in pandas. `columns.parquet` has columns, but no rows.\n",
        "While the store is written, a reader gets the old or the new version of each partition. DuckDB may open a file twice",
        "in one query, and polars reads sizes first: if a file is replaced in between, or grows, they can report an invalid",
        "file; run the query again. `memory_assets.scan` never fails like this.\n",
        "A file is larger than its content: a hole between rows and footer, which takes no space on most file systems.",
    ]
    return (
        "\n".join([*head, *(line for table in table_names() for line in _render_table(table))])
        + "\n"
    )


def _render_table(table: str) -> list[str]:
    doc = " ".join((record_of(table).__doc__ or "").split())
    rows = [
        f"| `{name}` | {dtype.replace('|', ' ')} | {text.replace('|', ' ')} |"
        for name, dtype, text in columns_of(table)
    ]
    key = ", ".join(f"`{name}`" for name in key_of(table))
    folders = "/".join(f"{name}=…" for name in partitioned_by(table))
    place = f"Partitions: `{folders}/`." if folders else "One partition."
    return [
        "",
        f"## {table}",
        "",
        doc,
        "",
        f"Key: {key}. {place}",
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        *rows,
    ]


def columns_of(table: str) -> list[tuple[str, str, str]]:
    """Returns (name, type, description) of each column."""
    fields = record_of(table).model_fields.items()
    return [(name, str(schema_of(table)[name]), field.description or "") for name, field in fields]


def describe(verb: Verb) -> dict[str, Any]:
    """Returns the verb's tool as the Model Context Protocol describes one."""
    hints = {
        "title": verb.title,
        "readOnlyHint": not verb.is_writing,
        "destructiveHint": verb.is_destructive,
        "idempotentHint": not verb.is_writing or verb.is_destructive,
        "openWorldHint": False,
    }
    about = {"name": verb.tool, "title": verb.title, "description": verb.about}
    return about | {"inputSchema": verb.tool_schema(), "annotations": hints}


def describe_command(command: Any) -> dict[str, Any]:
    """Returns a command as `interfaces.completion` reads it: its commands, options and arguments."""
    commands = getattr(command, "commands", {})
    own = commands[command.usual].params if hasattr(command, "usual") else command.params
    options = [one for one in command.params if one.param_type_name == "option"]
    return {
        "help": command.get_short_help_str(90),
        "is_hidden": command.hidden,
        "commands": {name: describe_command(commands[name]) for name in _in_order(command)},
        "options": {
            name: _describe_parameter(one)
            for one in options
            for name in (*one.opts, *one.secondary_opts)
        },
        "arguments": [_describe_parameter(one) for one in own if one.param_type_name == "argument"],
    }


def _in_order(command: Any) -> list[str]:
    return command.list_commands(None) if hasattr(command, "list_commands") else []


def _describe_parameter(one: Any) -> dict[str, Any]:
    wrapped = getattr(one, "_custom_shell_complete", None)
    completes = inspect.getclosurevars(wrapped).nonlocals.get("autocompletion") if wrapped else None
    kind, words = getattr(completes, "kind", ""), list(getattr(completes, "words", ()))
    if kind in FIXED_KINDS:
        kind, words = "", [word for word, _ in find_words(kind, "")]
    choices = getattr(one.type_descriptor, "choices", None) or ()
    takes = one.param_type_name == "argument" or not one.is_flag
    return {
        "help": (getattr(one, "help", None) or "").partition(" One of: ")[0],
        "takes": takes,
        "is_list": one.nargs == -1,
        "kind": kind,
        "words": words or [str(word) for word in choices],
    }


def describe_commands() -> dict[Path, dict[str, Any]]:
    """Returns all commands: the content of `interfaces/completion.json`, and of each extra's."""
    every = describe_command(typer.main.get_command(make_app()))
    described: dict[Path, dict[str, Any]] = {Path(COMMANDS): every}
    for extra in extras():
        if extra.commands:
            own = {name: _taken(every, name, extra) for name in extra.commands}
            described[EXTRAS / extra.name / Path(COMMANDS).name] = own
    return described


def _taken(every: dict[str, Any], group: str, extra: Extra) -> dict[str, Any]:
    """Takes the commands that the extra adds to the group, or the whole of a new group, out of the
    description and returns it."""
    if group not in CORE_GROUPS:
        return every["commands"].pop(group)
    names = typer.main.get_group(extra.load(extra.commands[group])).commands
    commands = every["commands"][group]["commands"]
    return {"commands": {name: commands.pop(name) for name in names}}


def describe_tools() -> dict[Path, list[dict[str, Any]]]:
    """Returns the tools of agents: the content of `interfaces/mcp/tools.json`."""
    return {TOOLS: [describe(verb) for verb in VERBS]}


def generated() -> dict[Path, str]:
    """Returns the content of each generated file."""
    as_json = {**describe_commands(), **describe_answers(), **describe_tools()}
    texts = {
        path: json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        for path, content in as_json.items()
    }
    return {TABLES_MD: render_dictionary(), **texts}


def main() -> None:
    """Writes all files."""
    for path, text in generated().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
