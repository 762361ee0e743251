"""Settings that are addresses: checked by their form, without slashes at the end."""

import re
from typing import Annotated

from pydantic import AfterValidator


def matching(pattern: str, what: str) -> AfterValidator:
    """Returns the check that a text is empty or matches the pattern; slashes at its end are
    removed.
    """

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(f"this is not {what}")
        return text.rstrip("/")

    return AfterValidator(check)


ServerAddress = Annotated[
    str,
    matching(
        r"https?://[^\s/?#]+(/[^\s?#]*)?",
        "a server address; use the form http://127.0.0.1:8080 or https://gateway.example",
    ),
]
