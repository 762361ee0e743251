"""What a verb of the interfaces is declared with; all of them are listed in `interfaces.verbs`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_assets.schema.requests import Request, parameters


@dataclass(frozen=True)
class Verb:
    """An operation that every interface offers."""

    name: str
    """Its command, its address over HTTP and the facade's method."""
    request: type[Request]
    title: str
    summary: str
    """For people: one sentence in the help."""
    about: str = ""
    """For agents: what it does and when to use it; empty for a verb of the command line."""
    example: Mapping[str, Any] = field(default_factory=dict)
    is_writing: bool = False
    is_destructive: bool = False
    tool_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters with another default for agents than for people."""
    tool_parameters: Mapping[str, str] | None = None
    """Parameters in the tool's schema, with a description for agents; all of them if None. A call
    may give the others, too: every session of an agent pays for the schema, and most parameters are
    hardly ever needed."""

    @property
    def tool(self) -> str:
        """Its name as a tool of agents."""
        return f"memory_{self.name}"

    @property
    def parameters(self) -> Mapping[str, dict[str, Any]]:
        """The JSON schema of each parameter, by name."""
        return parameters(self.request)

    @property
    def required(self) -> list[str]:
        """The required parameters."""
        return [name for name, field in self.request.model_fields.items() if field.is_required()]

    def schema(self) -> dict[str, Any]:
        """Returns the JSON Schema of its arguments."""
        return self._object(self.parameters, additionalProperties=False)

    def tool_schema(self) -> dict[str, Any]:
        """Returns the JSON Schema that agents see: types, allowed words and short descriptions of
        the tool's parameters.
        """
        every = {name: schema["description"] for name, schema in self.parameters.items()}
        listed = every if self.tool_parameters is None else self.tool_parameters
        properties = {
            name: _bare(self.parameters[name]) | ({"description": about} if about else {})
            for name, about in listed.items()
        }
        return self._object(properties)

    def _object(self, properties: Mapping[str, Any], **rules: Any) -> dict[str, Any]:
        required = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": dict(properties), **rules, **required}


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the type and the allowed words of a parameter."""
    shown = {name: schema[name] for name in ("type", "enum") if name in schema}
    return shown | ({"items": _bare(schema["items"])} if "items" in schema else {})
