"""Generates `answers.json` of the core and of each extra: for each command the JSON Schema of what `--json` prints, from the types of the answers.

A dataclass becomes an object of its public fields, as `interfaces.envelope` writes it; a class with a form of its own
(`to_dict`) is described in `OWN`. The texts below the fields become descriptions.
"""

import ast
import copy
import importlib
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from memory_assets.interfaces.envelope import VERSION
from memory_assets.interfaces.json_schema import ANSWERS
from memory_assets.schema.extra_folders import FOLDER
from memory_assets.schema.extras import Extra, extras

ROOT = "memory_assets."
EXTRAS = Path(FOLDER)
PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}
BUILT = "runs.build:Built"
CHOSEN = "services.models.model_offers:ModelOverview"
ROWS = {"type": "array", "items": {"type": "object"}}

TOKEN: dict[str, Any] = {
    "id": str,
    "name": str,
    "person": str,
    "project": str,
    "scopes": list[str],
    "created_at": str,
    "revoked_at": str,
}
"""A token without its secret."""

OF_COMMANDS: dict[str, Any] = {
    "up": BUILT,
    "ingest": BUILT,
    "recall": ["stages.recall.results:Answer", "stages.recall.cited_answer:CitedAnswer"],
    "remember": "services.notes.remember:Noted",
    "review": "services.review.proposals:Review",
    "review list": "services.review.proposals:Review",
    "review approve": "services.review.proposals:Decided",
    "review reject": "services.review.proposals:Decided",
    "review edit": "services.review.proposals:Decided",
    "explain": ["stages.triage.explain:Explanation", "services.search.why_not:WhyNot"],
    "forget": "services.forget.forget:Forgetting",
    "status": "services.health.status:Status",
    "brief": "services.search.latest_briefing:Briefing",
    "doctor": "services.health.doctor:Health",
    "restore": "services.notes.restore:Restored",
    "hooks install": {
        "is_dry_run": bool,
        "files": ["stages.deliver.install:HookChange"],
        "last_heard": dict[str, datetime],
    },
    "hooks uninstall": "hooks install",
    "hooks status": "hooks install",
    "model": CHOSEN,
    "model use": CHOSEN,
    "model add": CHOSEN,
    "model list": "services.settings.configuration:Models",
    "model cost": "services.models.model_questions:Costs",
    "config": [
        {"settings": ["services.settings.configuration:Setting"]},
        "runs.deployment:DagsterConfiguration",
    ],
    "config show": {"settings": ["services.settings.configuration:Setting"]},
    "config set": "services.settings.change_setting:ChangedSetting",
    "config unset": "services.settings.change_setting:ChangedSetting",
    "send": dict[str, Any],
    "data export": dict[str, Any],
    "data import": BUILT,
    "data restore": BUILT,
    "data backup": "services.transfer.backup:BackedUp",
    "data show": "services.search.table_rows:ShownRows",
    "data sample": "services.search.table_rows:ShownRows",
    "data rebuild": BUILT,
    "data backfill": BUILT,
    "data flush": BUILT,
    "data push": "services.sharing.push:Pushed",
    "data feedback": "services.notes.feedback:Rating",
    "library add": "services.documents:Added",
    "library discover": "services.discoveries:Discovered",
    "library feeds add": "services.feeds:FeedRow",
    "library feeds list": {"feeds": ["services.feeds:FeedRow"]},
    "library feeds poll": "services.feeds:Polled",
    "library feeds remove": "services.feeds:FeedRow",
    "library documents": {"documents": ["services.documents:DocumentRow"]},
    "library remove": "store.documents:KeptDocument",
    "library search": "services.documents:FoundInDocuments",
    "library adr list": {"records": ["services.adrs:AdrRow"]},
    "library adr check": "library adr list",
    "library slog add": "services.slog:SlogAnswer",
    "library slog list": "services.slog:SlogAnswer",
    "library slog search": "services.slog:SlogAnswer",
    "serve mcp": {"url": str, "is_writing": bool, "is_shared": bool},
    "serve http": {"url": str, "is_writing": bool, "is_shared": bool},
    "serve tokens create": {**TOKEN, "token": str},
    "serve tokens list": {"tokens": list[dict[str, Any]]},
    "serve tokens revoke": TOKEN,
    "serve ui": {"data": str},
    "serve notebook": {"notebook": str},
    "uninstall": "services.forget.uninstalled:Uninstalled",
}
"""The type of each command's data: a class, alternative classes, or the fields of an object."""


class Schemas:
    """Collects the definitions of the classes that answers consist of."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._names: dict[type, str] = {}

    def of(self, hint: Any) -> dict[str, Any]:
        """Returns the schema of a type hint."""
        if isinstance(hint, Hashable) and hint in PLAIN:
            return dict(PLAIN[hint])
        if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "to_dict")):
            return self._reference(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(one) for one in arguments]}
        if origin is typing.Annotated:
            return self.of(arguments[0])
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin is not None and issubclass(origin, list | tuple | AbstractSet | Sequence):
            return {"type": "array", "items": self.of(arguments[0] if arguments else Any)}
        raise TypeError(f"there is no schema for {hint!r}")

    def object(self, properties: Mapping[str, Any], about: str = "") -> dict[str, Any]:
        """Returns the schema of an object with these properties and no others."""
        described = {"description": about} if about else {}
        closed = {
            "properties": dict(properties),
            "required": list(properties),
            "additionalProperties": False,
        }
        return {"type": "object", **described, **closed}

    def _reference(self, cls: type) -> dict[str, Any]:
        name = self._names.setdefault(
            cls, cls.__name__ if cls.__name__ not in self.definitions else _long_name(cls)
        )
        if name not in self.definitions:
            self.definitions[name] = {}  # a class may contain itself
            own = OWN.get(cls.__name__)
            if own is None and hasattr(cls, "to_dict"):
                raise TypeError(f"{cls.__name__} has a form of its own: describe it in OWN")
            self.definitions[name] = (
                own(self, cls) if own else self.object(self.fields(cls), summary_of(cls))
            )
        return {"$ref": f"#/$defs/{name}"}

    def fields(self, cls: type, names: Collection[str] | None = None) -> dict[str, Any]:
        """Returns the schemas of these fields of a dataclass, by default of those that `envelope.to_json` writes."""
        hints, about = hints_of(cls), descriptions_of(cls)
        if names is None:
            names = [
                one.name
                for one in fields(cls)
                if not one.name.startswith("_") and one.name != "warnings"
            ]
        return {
            name: self.of(hints[name]) | ({"description": about[name]} if name in about else {})
            for name in names
        }


def _extended(**more: Any) -> Callable[[Schemas, type], dict[str, Any]]:
    """Returns the schema of a class whose form has all fields and these."""
    return lambda schemas, cls: schemas.object(
        {
            **{name: schemas.of(one) for name, one in more.items()},
            **schemas.fields(cls, [one.name for one in fields(cls)]),
        },
        summary_of(cls),
    )


def _selected(*names: str, **more: Any) -> Callable[[Schemas, type], dict[str, Any]]:
    """Returns the schema of a class whose form has only these fields and these others."""

    def select(schemas: Schemas, cls: type) -> dict[str, Any]:
        chosen = schemas.fields(cls, names)
        return schemas.object(
            {**chosen, **{name: schemas.of(one) for name, one in more.items()}}, summary_of(cls)
        )

    return select


def _chain(root: bool) -> Callable[[Schemas, type], dict[str, Any]]:
    def describe(schemas: Schemas, cls: type) -> dict[str, Any]:
        behind = {
            "type": "array",
            "items": schemas.of(_class("stages.triage.explain:ProvenanceStep")),
        }
        own: dict[str, Any] = (
            {"target": {"type": "string"}, "is_verified": {"type": "boolean"}} if root else {}
        )
        known = own | {"kind": {"type": "string"}, "id": {"type": "string"}, "behind": behind}
        about = f"{summary_of(cls)} Other properties are facts about the step, by its kind."
        return {
            "type": "object",
            "description": about,
            "properties": known,
            "required": list(known),
        }

    return describe


def _uninstalled(schemas: Schemas, cls: type) -> dict[str, Any]:
    known = schemas.fields(cls, ["is_dry_run", "hooks", "erased", "data", "settings"])
    about = descriptions_of(cls)["of_extras"]
    described = schemas.object(known, summary_of(cls))
    removed = {"type": ["object", "null"], "description": f"What was removed. {about}"}
    return described | {"additionalProperties": removed}


OWN: dict[str, Callable[[Schemas, type], dict[str, Any]]] = {
    "Uninstalled": _uninstalled,
    "Forgetting": _extended(is_gone=bool),
    "Health": _extended(is_well=bool),
    "Built": _selected("reason", "jobs", "learnt", "status", is_unchanged=bool, seconds=float),
    "HookChange": _selected("harness", "path", "state", "note", "beside", is_change=bool, diff=str),
    "Branch": _selected("name", "first", "last", "state", settings=dict[str, str]),
    "Comparison": _selected("before", "after", "changes", added=int, lost=int, changed=int),
    "Explanation": _chain(root=True),
    "ProvenanceStep": _chain(root=False),
    "SlogAnswer": _selected("entries", "count", _links=list[dict[str, str]]),
    "Evaluation": lambda schemas, cls: {
        "type": "object",
        "description": f"{summary_of(cls)} Each measure is a property.",
        "properties": {"per_session": ROWS, "shown": ROWS, "missing": schemas.of(list[str])},
        "required": ["labels", "observers", "failed", "missing", "per_session", "against", "shown"],
    },
}
"""Classes whose form is not their fields."""


def hints_of(cls: type) -> dict[str, Any]:
    """Returns the type of each field, those that are imported for type checkers only included."""
    names: dict[str, Any] = {}
    for one in reversed(cls.__mro__[:-1]):
        module = sys.modules[one.__module__]
        names |= vars(module) | dict(_checked_imports(module))
    return typing.get_type_hints(cls, names)


def _checked_imports(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for one in node.body:
                if (
                    isinstance(one, ast.ImportFrom)
                    and one.module
                    and one.module.startswith("memory_assets")
                ):
                    found = importlib.import_module(one.module)
                    yield from (
                        (alias.asname or alias.name, getattr(found, alias.name))
                        for alias in one.names
                    )


@cache
def descriptions_of(cls: type) -> dict[str, str]:
    """Returns the text below each field of the class and of its bases."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for field, text in pairwise(body):
            is_text = (
                isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            )
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
                found[field.target.id] = " ".join(ast.literal_eval(text.value).split())  # pyright: ignore
    return found


def _long_name(cls: type) -> str:
    """Returns a name with the module in it, for a class whose own name is used twice."""
    return f"{cls.__module__.rpartition('.')[2].title().replace('_', '')}{cls.__name__}"


def summary_of(cls: type) -> str:
    """Returns the first sentence of the class's docstring."""
    return " ".join((cls.__doc__ or "").split("\n\n")[0].split())


def _class(name: str) -> type:
    module, _, cls = name.partition(":")
    return getattr(importlib.import_module(ROOT + module), cls)


def _data_of(schemas: Schemas, wanted: Any) -> dict[str, Any]:
    if isinstance(wanted, str) and ":" not in wanted:
        return _data_of(schemas, OF_COMMANDS[wanted])
    if isinstance(wanted, str):
        return schemas.of(_class(wanted))
    if isinstance(wanted, list):
        return {"anyOf": [_data_of(schemas, one) for one in wanted]}
    if isinstance(wanted, dict):
        items = {
            name: {"type": "array", "items": _data_of(schemas, one[0])}
            if isinstance(one, list)
            else schemas.of(one)
            for name, one in wanted.items()
        }
        return schemas.object(items)
    return schemas.of(wanted)


def describe_answers() -> dict[Path, dict[str, Any]]:
    """Returns the content of `interfaces/answers.json`, and of `answers.json` of each extra."""
    schemas = Schemas()
    commands = {name: _data_of(schemas, wanted) for name, wanted in OF_COMMANDS.items()}
    core = {"envelope": _envelope(schemas)} | _part(commands, schemas.definitions)
    return {ANSWERS: core} | {
        EXTRAS / extra.name / ANSWERS.name: _answers_of(extra, schemas)
        for extra in extras()
        if extra.answers
    }


def _answers_of(extra: Extra, core: Schemas) -> dict[str, Any]:
    """Returns the schemas of the extra's commands, with the definitions that the core does not have."""
    schemas = copy.deepcopy(core)
    commands = {name: _data_of(schemas, wanted) for name, wanted in extra.answers.items()}
    added = {
        name: schema for name, schema in schemas.definitions.items() if name not in core.definitions
    }
    return _part(commands, added)


def _part(commands: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {"commands": commands, "$defs": dict(sorted(definitions.items()))}


def _envelope(schemas: Schemas) -> dict[str, Any]:
    envelope = schemas.object(
        {
            "v": {"const": VERSION},
            "ok": {
                "type": "boolean",
                "description": "False where the command failed or the doctor found something.",
            },
            "data": {},
            "warnings": {"type": "array", "items": {"type": "string"}},
        }
    )
    envelope["properties"]["error"] = schemas.object(
        {"type": {"type": "string"}, "message": {"type": "string"}}
    )
    return envelope
