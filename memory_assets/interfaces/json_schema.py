"""Describes what a command prints with `--json` as JSON Schema: `memory recall --json-schema`.

Each module of the command line has a function `answer_types`, which names the type of each
command's data. The docstrings of the fields of these types become descriptions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema

from memory_assets.errors import QuestionError
from memory_assets.interfaces.envelope import VERSION

AnswerTypes = Callable[[], Mapping[str, Any]]
"""Returns each command with the type of its data. Only called for a schema, because it imports the
types.
"""

MOST_WORDS = 3
"""Words of the longest name of a command."""

OPTION = "--json-schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
WITH_DESCRIPTIONS = ConfigDict(use_attribute_docstrings=True, arbitrary_types_allowed=True)

ENVELOPE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "v": {"const": VERSION},
        "ok": {
            "type": "boolean",
            "description": "False where the command failed or the doctor found something.",
        },
        "data": {},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "error": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
            "required": ["type", "message"],
            "additionalProperties": False,
        },
    },
    "required": ["v", "ok", "data", "warnings"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class WrittenForm:
    """What the method `to_dict` of a class writes, if that is not exactly its fields."""

    fields: Sequence[str] | None = None
    """Names of the fields that are written; None: all."""
    added: Mapping[str, Any] = field(default_factory=dict)
    """Names of other properties, with their types."""
    is_open: bool = False
    """Whether there may be properties that are not listed."""
    includes: str = ""
    """Name of a field whose properties are written as properties of the class."""


ROWS = list[dict[str, Any]]
FORMS: Mapping[str, WrittenForm] = {
    "Forgetting": WrittenForm(added={"is_gone": bool}),
    "Health": WrittenForm(added={"is_well": bool}),
    "Built": WrittenForm(
        ("reason", "jobs", "learnt", "status", "model_failure"),
        {"is_unchanged": bool, "seconds": float},
    ),
    "HookChange": WrittenForm(
        ("harness", "path", "state", "note", "beside"), {"is_change": bool, "diff": str}
    ),
    "Uninstalled": WrittenForm(("is_dry_run", "hooks", "erased", "data", "settings"), is_open=True),
    "Branch": WrittenForm(("name", "first", "last", "state"), {"settings": dict[str, str]}),
    "Comparison": WrittenForm(
        ("before", "after", "changes"), {"added": int, "lost": int, "changed": int}
    ),
    "Explanation": WrittenForm(("target",), {"is_verified": bool}, is_open=True, includes="root"),
    "ProvenanceStep": WrittenForm(("kind", "id", "behind"), is_open=True),
    "SlogAnswer": WrittenForm(("entries", "count"), {"_links": list[dict[str, str]]}),
    "Evaluation": WrittenForm(
        ("missing",),
        dict.fromkeys(("labels", "observers", "failed", "against"), Any)
        | {"per_session": ROWS, "shown": ROWS},
        is_open=True,
    ),
}


class AnswerSchema(GenerateJsonSchema):
    """Describes dataclasses as `envelope.to_json` writes them: with all fields and nothing else."""

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        """Returns the schema of an object with the public fields, or with the form of `FORMS`."""
        cls = schema["cls"]
        form = FORMS.get(cls.__name__, WrittenForm())
        arguments = schema["schema"]
        fields = {member["name"]: member for member in arguments["fields"]}
        public = [name for name in fields if not name.startswith("_") and name != "warnings"]
        written = [fields[name] for name in form.fields or public]
        written_schema: Any = {**schema, "schema": {**arguments, "fields": written}}
        properties = super().dataclass_schema(written_schema).get("properties", {})
        properties |= {name: TypeAdapter(kind).json_schema() for name, kind in form.added.items()}
        described = {"type": "object", "description": _summary_of(cls), "properties": properties}
        described |= {"required": list(properties), "additionalProperties": form.is_open}
        if form.includes:
            described["allOf"] = [self.generate_inner(fields[form.includes]["schema"])]
        return described

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """Returns the schema of an object with these fields, without a title."""
        described = super().model_schema(schema)
        described.pop("title", None)
        return described

    def default_schema(self, schema: Any) -> dict[str, Any]:
        """Returns the schema without the default: a field is written even if it has its default."""
        return self.generate_inner(schema["schema"])

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Returns True: fields with a default are written too."""
        return True

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Returns False: a title would repeat the name."""
        return False


def schema_for(words: Sequence[str], sources: Iterable[AnswerTypes]) -> dict[str, Any]:
    """Returns the schema of the command that the words begin with.

    Raises `QuestionError` if they name no command.
    """
    path, answer = _find_answer([word for word in words if not word.startswith("-")], sources)
    optional: Any = answer | None
    adapter = TypeAdapter(optional, config=WITH_DESCRIPTIONS)
    data = adapter.json_schema(mode="serialization", schema_generator=AnswerSchema)
    definitions = data.pop("$defs", {})
    return {
        "$schema": DIALECT,
        "title": f"What `memory {path} --json` prints",
        **ENVELOPE,
        "properties": {**ENVELOPE["properties"], "data": data},
        "$defs": definitions,
    }


def _find_answer(words: Sequence[str], sources: Iterable[AnswerTypes]) -> tuple[str, Any]:
    """Returns the command with the longest name that the words begin with, and its data's type."""
    beginnings = [" ".join(words[:count]) for count in range(MOST_WORDS, 0, -1)]
    for answer_types in sources:
        types = answer_types()
        for path in beginnings:
            if path in types:
                return path, types[path]
    raise QuestionError(f"{OPTION} needs a command, such as `memory recall {OPTION}`.")


def fields(**types: Any) -> Any:
    """Returns the type of an object with these fields."""
    config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    required: Any = {name: (annotation, ...) for name, annotation in types.items()}
    return create_model("Fields", __config__=config, **required)


def _summary_of(cls: type) -> str:
    return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())
