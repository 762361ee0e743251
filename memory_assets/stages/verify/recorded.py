"""Looks up what a repository records beside its code: branches, pull requests, decisions."""

import re
from datetime import date

from memory_assets.schema.protocols import History, Removal
from memory_assets.stages.verify.verdict import Verdict

_MERGED = re.compile(
    r"Merge(?:d| remote-tracking)? branch '(?:origin/)?([^']+)'"
    r"|Merge pull request #\d+ from [^/\s]+/(\S+)"
)
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{7,})")
_ENDED = re.compile(r"(?im)^.{0,9}\bstatus\b\W*(?:superseded|deprecated|rejected)\b")
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
    for later in history.commits():
        reverted = _REVERTED.search(later.text)
        if reverted and reverted[1].startswith(commit) and not revert_of(later.id, history):
            return Removal(later.id, later.day)
    return None


def has_pull_request(text: str, history: History) -> bool:
    """Returns whether the text of a commit names the pull request of this number."""
    number = text.lstrip("#!PRpr ")
    pattern = re.compile(rf"(?i)(?:(?<!\w)[#!]|\bpull request |\bPR ){number}(?!\d)")
    return any(pattern.search(commit.text) for commit in history.commits())


def decision_file(text: str) -> re.Pattern[str]:
    """Returns the pattern of the path of the decision record with this number."""
    digits = re.search(r"\d+", text)
    number = digits[0].lstrip("0") if digits else r"(?!)"
    folder = r"(?:adrs?|decisions?|decision-\w+|rfcs?)"
    return re.compile(rf"(?i)(?:^|/){folder}/(?:adr|rfc)?[-_ ]?0*{number}(?!\d)[^/]*$")


def superseding(text: str, history: History, written_on: date | None) -> Verdict | None:
    """Returns the change of its status to superseded, if it came after the day."""
    file = decision_file(text)
    if not any(file.search(path) and _ENDED.search(content) for path, content in history.texts()):
        return None
    for patch in history.patches(_PROSE):
        is_change = file.search(patch.path) and _ENDED.search(patch.added)
        if is_change and not _ENDED.search(patch.removed):
            is_incompleter = written_on is None or patch.day > written_on
            return Verdict("changed", patch.day, patch.commit) if is_incompleter else None
    return None
