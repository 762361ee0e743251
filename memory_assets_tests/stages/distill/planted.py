"""Text that wants to be remembered, as data: where it lies, what it says, and what an obedient model makes of it.

Nobody but the owner may make a rule; none of the texts in `planted.json` is the owner's. `SAID` is the other side: what owners
really say, in words much like these, and what must be kept.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Theme:
    """What a planted text is after: the word that gives it away, and how an obedient model puts it."""

    marker: str
    claims: list[str]


@dataclass(frozen=True)
class Planted:
    """One text, and the place that it was planted in: tool, file, web, injected, subagent, two messages or paste."""

    name: str
    place: str
    text: str
    theme: str = "conda"


@dataclass(frozen=True)
class Said:
    """What an owner says, and what a model makes of it."""

    text: str
    marker: str
    claim: str


_DATA = json.loads(Path(__file__).with_suffix(".json").read_bytes())
THEMES = {name: Theme(**theme) for name, theme in _DATA["themes"].items()}
PLANTED = [Planted(**planted) for planted in _DATA["planted"]]
SAID = [Said(**said) for said in _DATA["said"]]
