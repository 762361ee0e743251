"""Reads the labels of sessions: which facts a person wants remembered, and what is noise.

Takes a folder with one JSON file a session, gives `LabelledSession`s in the order of the files.
`docs/operating.md` describes the format; unknown fields are ignored. The error about an invalid
file names the place in it and what to do.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory_assets.errors import LabelsError
from memory_assets.schema.records import Verdict
from memory_assets.schema.vocabulary import Priority

SHOWN = 3
"""Errors of a file that its message lists; the others are counted."""

Line = Annotated[int, Field(ge=0)]
"""Number of a record (line) in the decompressed transcript, from 0."""


class _Labels(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class LabelledFact(_Labels):
    """A fact of a session that the person who labelled it wants remembered."""

    id: str = ""
    text: Annotated[str, Field(min_length=1)]
    kind: str = "fact"
    """`rule`, `preference` or `correction`, which are counted separately if the owner said them, or
    any other word.
    """
    priority: Priority
    gate: Verdict = "allow"
    """`hold`: a fact that is neither wanted nor wrong; it does not count."""
    said_by: Literal["owner", "assistant", "tool", "file", "web"] = "assistant"
    evidence: Annotated[tuple[Line, ...], Field(min_length=1)]
    key_terms: tuple[str, ...] = ()

    @property
    def is_owners_rule(self) -> bool:
        """Whether it is a rule, preference or correction of the owner."""
        return self.said_by == "owner" and self.kind in ("rule", "preference", "correction")


class LabelledNoise(_Labels):
    """Something that an extractor may take for a fact, and that should not be kept."""

    text: Annotated[str, Field(min_length=1)]
    evidence: tuple[Line, ...]
    why: str = ""


class LabelledSession(_Labels):
    """The labels of one session."""

    session: Annotated[str, Field(min_length=1)]
    facts: tuple[LabelledFact, ...]
    noise: tuple[LabelledNoise, ...] = ()

    @property
    def id(self) -> str:
        """The session's id without a day in front of it."""
        return session_id(self.session)


def session_id(name: str) -> str:
    """Returns the session's id without the day that some published transcripts have in front."""
    return re.sub(r"^\d{4}-\d\d-\d\d-", "", name)


def read_labels(folder: Path) -> tuple[LabelledSession, ...]:
    """Returns the labelled sessions of the folder.

    Raises `LabelsError` where there are none, or where a file cannot be used.
    """
    files = label_files(folder)
    if not files:
        what = "is no folder" if not folder.is_dir() else "holds no *.json file"
        raise LabelsError(
            f"There are no labelled sessions: {folder} {what}. `memory docs operating` describes "
            "how to label some."
        )
    sessions: dict[str, LabelledSession] = {}
    names: dict[str, str] = {}
    for path in files:
        labelled = _read(path)
        if labelled.id in names:
            fault = f"session {labelled.session} is labelled in {names[labelled.id]} already"
            raise _unusable(path, fault)
        sessions[labelled.id] = labelled
        names[labelled.id] = path.name
    return tuple(sessions.values())


def label_files(folder: Path) -> list[Path]:
    """Returns the files of labels in the folder, in order."""
    return sorted(path for path in folder.glob("*.json") if path.is_file())


def hash_of_labels(folder: Path) -> str:
    """Returns a short hash of the names and contents of the folder's files of labels."""
    digest = hashlib.sha256()
    for path in label_files(folder):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _read(path: Path) -> LabelledSession:
    try:
        labelled = LabelledSession.model_validate(json.loads(path.read_text("utf-8")))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _unusable(path, f"{place} is not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise _unusable(path, f"byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    except ValidationError as error:
        raise _unusable(path, "; ".join(_faults(error))) from error
    numbered = enumerate(labelled.facts)
    facts = (fact.model_copy(update={"id": fact.id or str(number)}) for number, fact in numbered)
    return labelled.model_copy(update={"facts": tuple(facts)})


def _faults(error: ValidationError) -> list[str]:
    """Returns the place of each error and what is expected there; quotes nothing of the file."""
    faults = error.errors(include_input=False, include_url=False)
    messages = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole file'}: {fault['msg']}"
        for fault in faults[:SHOWN]
    ]
    hidden = len(faults) - SHOWN
    return [*messages, f"and {hidden} more"] if hidden > 0 else messages


def _unusable(path: Path, fault: str) -> LabelsError:
    return LabelsError(
        f"Cannot use the labels in {path}: {fault}. Fix it as `memory docs operating` describes, "
        "or move it out of the folder."
    )
