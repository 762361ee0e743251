"""Looks up what a repository records beside its code: branches, reverted commits, decisions."""

import re

from memory_assets.schema.protocols import History, Removal
from memory_assets.stages.verify.contents import Trace

_MERGED = re.compile(
    r"Merge(?:d| remote-tracking)? branch '(?:origin/)?([^']+)'"
    r"|Merge pull request #\d+ from [^/\s]+/(\S+)"
)
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{7,})")
_ENDED = re.compile(r"(?im)^.{0,9}\bstatus\b\W*(?:superseded|deprecated|rejected)\b")
_STATUS = re.compile(r"(?i)\bstatus\b")
_PROSE = ("*.md", "*.rst", "*.adoc")


def merge_of(branch: str, history: History) -> Removal | None:
    """Returns the newest merge that names the branch."""
    for commit in history.commits():
        merged = _MERGED.match(commit.text)
        if merged and branch in merged.groups():
            return Removal(commit.id, commit.day)
    return None


def revert_of(commit: str, history: History) -> Removal | None:
    """Returns the commit that says it reverts the one with this abbreviated id, unless that is
    reverted itself.
    """
    reverted_ids = set[str]()
    for later in history.commits():
        reverted = _REVERTED.search(later.text)
        if reverted and later.id[:7] not in reverted_ids:
            if reverted[1].startswith(commit):
                return Removal(later.id, later.day)
            reverted_ids.add(reverted[1][:7])
    return None


def decision_file(text: str) -> re.Pattern[str]:
    """Returns the pattern of the path of the decision record with this number."""
    digits = re.search(r"\d+", text)
    number = digits[0].lstrip("0") if digits else r"(?!)"
    folder = r"(?:adrs?|decisions?|decision-\w+|rfcs?)"
    return re.compile(rf"(?i)(?:^|/){folder}/(?:adr|rfc)?[-_ ]?0*{number}(?!\d)[^/]*$")


def trace_of_status(file: re.Pattern[str]) -> Trace:
    """Returns how the decision in this file is seen: not superseded, and once with a status."""

    def is_in_force(path: str, text: str) -> bool:
        """Returns whether the file is the decision, and not superseded."""
        return bool(file.search(path)) and not _ENDED.search(text)

    def was_in_force(path: str, text: str) -> bool:
        """Returns whether what was taken out said so."""
        return is_in_force(path, text) and bool(_STATUS.search(text))

    return Trace(is_in_force, was_in_force, globs=_PROSE)
