"""One promise of the store and whether it holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A promise, its outcome, what was found, and what to do where it is broken."""

    name: str
    promise: str
    passed: bool
    found: str = ""
    remedy: str = ""
    is_advice: bool = False
    """Advice is shown and does not make the doctor fail."""
