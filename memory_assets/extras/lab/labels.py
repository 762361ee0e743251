"""Reads sessions that people labelled: one JSON file a session, with facts to keep and noise to
leave out.

Takes a folder, gives `LabelledSession`s in order of their files; `docs/operating.md` describes the
format. The error of an invalid file names the place in it and what to do. Unknown fields are
ignored.
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
"""Errors of one file that are reported at once."""

Line = Annotated[int, Field(ge=0)]
"""Physical 0-based record number in the decompressed transcript."""


class _Labels(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class LabelledFact(_Labels):
    """A fact that a reader wants remembered of a session."""

    id: str = ""
    text: Annotated[str, Field(min_length=1)]
    kind: str = "fact"
    """`rule`, `preference` and `correction` of the owner are counted separately; other kinds are
    free.
    """
    priority: Priority
    gate: Verdict = "allow"
    """`hold`: neither wanted nor wrong."""
    said_by: Literal["owner", "assistant", "tool", "file", "web"] = "assistant"
    evidence: Annotated[tuple[Line, ...], Field(min_length=1)]
    key_terms: tuple[str, ...] = ()

    @property
    def is_owners_rule(self) -> bool:
        """Whether it is a rule, preference or correction of the owner."""
        return self.said_by == "owner" and self.kind in ("rule", "preference", "correction")


class LabelledNoise(_Labels):
    """Something that a naive extractor would keep and should not."""

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
    """Returns a session's id without the day that some publishers of transcripts put in front of
    it.
    """
    return re.sub(r"^\d{4}-\d\d-\d\d-", "", name)


def read_labels(folder: Path) -> tuple[LabelledSession, ...]:
    """Returns the labelled sessions of the folder; raises `LabelsError` where there are none or a
    file cannot be used.
    """
    files = label_files(folder)
    if not files:
        what = "is no folder" if not folder.is_dir() else "holds no *.json file"
        raise LabelsError(
            f"There are no labelled sessions: {folder} {what}. docs/operating.md describes "
            "how to label some."
        )
    by_id: dict[str, tuple[Path, LabelledSession]] = {}
    for path in files:
        labelled = _read(path)
        if labelled.id in by_id:
            other = by_id[labelled.id][0].name
            raise _unusable(path, f"session {labelled.session} is labelled in {other} already")
        by_id[labelled.id] = (path, labelled)
    return tuple(labelled for _, labelled in by_id.values())


def label_files(folder: Path) -> list[Path]:
    """Returns the files of labels in the folder, in order."""
    return sorted(path for path in folder.glob("*.json") if path.is_file())


def hash_of_labels(folder: Path) -> str:
    """Returns a short hash of the folder's labels: what an evaluation was made with."""
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
    """Returns the place of each error and what is expected there, without the text."""
    faults = error.errors(include_input=False, include_url=False)
    shown = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole file'}: {fault['msg']}"
        for fault in faults[:SHOWN]
    ]
    return [*shown, f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else shown


def _unusable(path: Path, fault: str) -> LabelsError:
    return LabelsError(
        f"Cannot use the labels in {path}: {fault}. Fix it as docs/operating.md describes, "
        "or move it out of the folder."
    )
