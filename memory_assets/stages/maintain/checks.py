"""The result of one check of the store."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A promise, whether it holds, what was found, and what to do if it does not."""

    name: str
    promise: str
    passed: bool
    found: str = ""
    remedy: str = ""
    is_advice: bool = False
    """Advice is shown and does not make the doctor fail."""
