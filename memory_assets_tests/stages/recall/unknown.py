"""Questions whose answer is in no public transcript, by how far they are from what was said: reads `unknown.toml`."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("unknown.toml")


@cache
def read_unknown() -> dict[str, Any]:
    """Returns the file as it is."""
    return tomllib.loads(FILE.read_text("utf-8"))


def unknown_questions() -> dict[str, list[str]]:
    """Returns the questions by grade."""
    found = read_unknown()
    return {
        "far off": found["far"],
        "other technology": found["other_technology"],
        "same project": [each["question"] for each in found["same_project"]],
    }
