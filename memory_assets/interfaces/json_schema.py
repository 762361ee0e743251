"""Prints the JSON Schema of what a command prints with `--json`: `memory recall --json-schema`.

The schemas are in `answers.json`, which `make docs` generates from the types of the answers.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memory_assets.errors import QuestionError
from memory_assets.schema.extra_folders import generated_files

ANSWERS = Path(__file__).with_name("answers.json")
OPTION = "--json-schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_for(words: Sequence[str]) -> dict[str, Any]:
    """Returns the schema of the command that the words begin with; raises `QuestionError` where
    they name none.
    """
    known = read_answers()
    named = [word for word in words if not word.startswith("-")]
    path = next((path for path in _beginnings(named) if path in known["commands"]), None)
    if path is None:
        raise QuestionError(f"{OPTION} needs a command, such as `memory recall {OPTION}`.")
    envelope, definitions = known["envelope"], known["$defs"]
    data = {"anyOf": [known["commands"][path], {"type": "null"}]}
    properties = {**envelope["properties"], "data": data}
    used = {name: definitions[name] for name in sorted(_used(data, definitions))}
    title = f"What `memory {path} --json` prints"
    return {"$schema": DIALECT, "title": title, **envelope, "properties": properties, "$defs": used}


def read_answers() -> dict[str, Any]:
    """Returns the schemas of all commands, those of optional capabilities included."""
    known = json.loads(ANSWERS.read_text("utf-8"))
    for path in generated_files(ANSWERS.name):
        added = json.loads(Path(path).read_text("utf-8"))
        for part in ("commands", "$defs"):
            known[part] |= added[part]
    return known


def _beginnings(words: Sequence[str]) -> Iterator[str]:
    """Yields the first three, two and one of the words, joined."""
    return (" ".join(words[:count]) for count in range(min(3, len(words)), 0, -1))


def _used(schema: Any, definitions: dict[str, Any]) -> set[str]:
    """Returns the definitions that the schema needs."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name in definitions and name not in found:
                found.add(name)
                waiting.append(definitions[name])
    return found
