"""Declares a verb: an operation that every interface offers. `interfaces.verbs` lists them all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_assets.schema.requests import Request, parameters


@dataclass(frozen=True)
class Verb:
    """An operation that every interface offers."""

    name: str
    """The name of its command, of its address over HTTP, and of the method of `MemoryAgent`."""
    request: type[Request]
    title: str
    summary: str
    """For people: one sentence in the help."""
    about: str = ""
    """For agents: what it does and when to use it; empty for a verb of the command line alone."""
    example: Mapping[str, Any] = field(default_factory=dict)
    is_writing: bool = False
    is_destructive: bool = False
    tool_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters with another default for agents than for people."""
    tool_parameters: Mapping[str, str] | None = None
    """Parameters in the tool's schema, with a description for agents; None: all parameters.

    Most parameters are left out because every session of an agent pays for the schema, and they are
    hardly ever needed. A call may still use them.
    """

    argument: str = ""
    """An optional parameter that is an argument of the command, as required ones are."""

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
        about = {name: schema["description"] for name, schema in self.parameters.items()}
        if self.tool_parameters is not None:
            about = self.tool_parameters
        properties = {name: _bare(self.parameters[name]) for name in about}
        for name, description in about.items():
            if description:
                properties[name]["description"] = description
        return self._object(properties)

    def _object(self, properties: Mapping[str, Any], **rules: Any) -> dict[str, Any]:
        required = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": dict(properties), **rules, **required}


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the schema of a parameter with nothing but its type and its allowed words."""
    bare = {name: schema[name] for name in ("type", "enum") if name in schema}
    if "items" in schema:
        bare["items"] = _bare(schema["items"])
    return bare
