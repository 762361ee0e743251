"""Cleans texts that people and agents write before they are saved: one line, printable, and with
secrets masked where they are facts; names are limited in length.
"""

import unicodedata

from memory_assets.errors import NoteError
from memory_assets.text.words import squeezed

LONGEST_NAME = 200
"""Characters of the name of a project or session."""


def check_printable(text: str, what: str) -> str:
    """Returns the text; raises `NoteError` where it contains control characters or surrogates.

    `what` names the text in the error.
    """
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\r\t":
            code = f"the control character U+{ord(character):04X}"
            raise NoteError(f"Cannot save {what}: it contains {code}. Remove it.")
    return text


def masked_line(text: str, what: str) -> tuple[str, int]:
    """Returns the text as one line with its secrets masked, and the number of secrets."""
    from memory_assets.text.masking.redact import mask_text

    masked_text, secret_count = mask_text(check_printable(text, what))
    return squeezed(masked_text), secret_count


def masked_warnings(count: int, where: str) -> tuple[str, ...]:
    """Returns a warning where secrets were masked."""
    if not count:
        return ()
    secrets = "secrets were" if count > 1 else "secret was"
    return (f"{count} {secrets} masked in the {where}.",)


def clean_name(name: str, what: str) -> str:
    """Returns the name of a project or session as one line; raises `NoteError` if too long."""
    cleaned = squeezed(check_printable(name, f"the {what}"))
    if len(cleaned) > LONGEST_NAME:
        raise NoteError(f"The {what} has {len(cleaned):,} characters, the limit is {LONGEST_NAME}.")
    return cleaned
