"""Declares settings of the core and of optional capabilities: a field with its description, and the
types of addresses and of lists of names.
"""

import json
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

ALL_PROJECTS = "*"
"""Value in a list of projects for all projects, also future ones."""


def setting(description: str, default: Any = None, **options: Any) -> Any:
    """Returns a field with its description, and its default or the `default_factory` in the
    options.
    """
    if "default_factory" in options:
        return Field(description=description, **options)
    return Field(default, description=description, **options)


def matching(pattern: str, description: str) -> AfterValidator:
    """Returns a validator: a text must be empty or match the pattern; slashes at its end are
    removed. The error for another text says that it is not what is described.
    """

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(f"this is not {description}")
        return text.rstrip("/")

    return AfterValidator(check)


def parse_names(names: Any) -> Any:
    """Returns a list of names from a TOML or JSON list, or from names separated by commas."""
    if not isinstance(names, str):
        return names
    if names.lstrip().startswith("["):
        try:
            return json.loads(names)
        except ValueError:
            raise ValueError('this is not a list; use a, b or ["a", "b"]') from None
    return [name.strip() for name in names.split(",") if name.strip()]


ServerAddress = Annotated[
    str,
    matching(
        r"https?://[^\s/?#]+(/[^\s?#]*)?",
        "a server address; use the form http://127.0.0.1:8080 or https://gateway.example",
    ),
]

OtherNames = Annotated[
    list[str], BeforeValidator(lambda names: [names] if isinstance(names, str) else names)
]
ProjectNames = Annotated[list[str], NoDecode, BeforeValidator(parse_names)]
