"""Looks up each kind of name but paths and tasks, in the files and commits of a repository."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import PurePosixPath

from memory_assets.schema.protocols import History
from memory_assets.stages.verify import manifests, recorded
from memory_assets.stages.verify.contents import SearchedHistory, Trace, in_text
from memory_assets.stages.verify.definitions import trace_of_symbol
from memory_assets.stages.verify.named import Named, NamedKind
from memory_assets.stages.verify.values import name_pattern, trace_of_value
from memory_assets.stages.verify.verdict import HOLDS, UNKNOWN, Verdict, removed

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_CALL = re.compile(r"\([^()]*\)$")
_SUBCOMMAND = re.compile(r"[a-z]{2}[\w-]*")
_MARKED = re.compile(r"[_-]|[a-z][A-Z]")
"""What an ordinary word does not contain."""


def verdict_of(named: Named, history: History, written_on: date | None) -> Verdict:
    """Returns what became of the name; of what the text states of it, since the day.

    Where in doubt, it holds or is unknown.
    """
    past = SearchedHistory(history, written_on)
    verdict = _LOOKUPS[named.kind](named.text, past)
    if not named.value or verdict.is_gone:
        return verdict
    trace_of = manifests.trace_of_package if named.kind == "dependency" else trace_of_value
    trace = trace_of(named.text, named.value)
    if past.has(trace):
        return HOLDS
    removal = past.removal_of(trace)
    return Verdict("changed", removal.day, removal.commit) if removal else verdict


def _verdict_of(trace: Trace, past: SearchedHistory) -> Verdict:
    return HOLDS if past.has(trace) else removed(past.removal_of(trace), UNKNOWN)


def _verdict_of_symbol(text: str, past: SearchedHistory) -> Verdict:
    """Returns that of the first of its parts that is gone: of `Feed.poll`, the method or the
    class.
    """
    names = _IDENTIFIER.findall(_CALL.sub("", text))
    verdicts = [_verdict_of(trace_of_symbol(name), past) for name in reversed(names)]
    lost = (verdict for verdict in verdicts if verdict.is_gone)
    return next(lost, verdicts[0] if verdicts else UNKNOWN)


def _verdict_of_variable(text: str, past: SearchedHistory) -> Verdict:
    word = in_text(re.compile(rf"(?<!\w){re.escape(text)}(?!\w)"))
    return _verdict_of(Trace(word, word, text, is_word=text.isidentifier()), past)


def _verdict_of_environment(text: str, past: SearchedHistory) -> Verdict:
    """Returns that it holds, too, if a document names it or it is a prefix and a field."""
    verdict = _verdict_of_variable(text, past)
    if not verdict.is_gone:
        return verdict
    word = in_text(re.compile(rf"\b{re.escape(text)}\b"))
    field = in_text(re.compile(rf"(?m)^\s*{text.partition('_')[2].lower() or text}\s*[:=]"))
    documented = Trace(word, word, text, is_documented=True)
    return HOLDS if past.has(documented) or past.has(Trace(field, field)) else verdict


def _verdict_of_setting(text: str, past: SearchedHistory) -> Verdict:
    """Returns that of the last part of its name; an ordinary word is never gone."""
    name = text.rpartition(".")[2]
    verdict = _verdict_of_variable(name, past)
    spelled = in_text(re.compile(name_pattern(name)))
    if verdict == HOLDS or past.has(Trace(spelled, spelled)):
        return HOLDS
    return verdict if _MARKED.search(name) else UNKNOWN


def _verdict_of_flag(text: str, past: SearchedHistory) -> Verdict:
    """Returns that of the flag in any file, if its program is or was the project's own."""
    program, _, flag = text.rpartition(" ")
    is_others = program and _verdict_of_command(program, past) == UNKNOWN
    return UNKNOWN if is_others else _verdict_of(manifests.trace_of_argument(flag), past)


def _verdict_of_command(text: str, past: SearchedHistory) -> Verdict:
    """Returns that of its program, or of its subcommand if this is gone."""
    program, *arguments = text.split()
    verdict = _verdict_of_program(PurePosixPath(program).name, past)
    if verdict == HOLDS and arguments and _SUBCOMMAND.fullmatch(arguments[0]):
        return _verdict_of(manifests.trace_of_argument(arguments[0]), past)
    return verdict


def _verdict_of_program(name: str, past: SearchedHistory) -> Verdict:
    path = manifests.program_path(name)
    if any(map(path.search, past.history.paths())):
        return HOLDS
    verdict = _verdict_of(manifests.trace_of_program(name), past)
    return removed(past.removal_of_file(path), UNKNOWN) if verdict == UNKNOWN else verdict


def _verdict_of_dependency(text: str, past: SearchedHistory) -> Verdict:
    return _verdict_of(manifests.trace_of_package(text), past)


def _verdict_of_branch(text: str, past: SearchedHistory) -> Verdict:
    """Returns that it is gone if a merge names it and no branch has the name."""
    name = text.removeprefix("origin/")
    branches = past.history.branches()
    if name in branches:
        return HOLDS
    return removed(recorded.merge_of(name, past.history), UNKNOWN) if branches else UNKNOWN


def _verdict_of_commit(text: str, past: SearchedHistory) -> Verdict:
    otherwise = HOLDS if past.history.has_commit(text) else UNKNOWN
    return removed(recorded.revert_of(text, past.history), otherwise)


def _verdict_of_pull_request(text: str, past: SearchedHistory) -> Verdict:
    return HOLDS if text.lstrip("#!PRpr ") in past.history.pull_requests() else UNKNOWN


def _verdict_of_decision(text: str, past: SearchedHistory) -> Verdict:
    """Returns that it is changed if its status became superseded."""
    file = recorded.decision_file(text)
    if not any(map(file.search, past.history.paths())):
        return removed(past.removal_of_file(file), UNKNOWN)
    status = recorded.trace_of_status(file)
    removal = None if past.has(status) else past.removal_of(status)
    return Verdict("changed", removal.day, removal.commit) if removal else HOLDS


_LOOKUPS: Mapping[NamedKind, Callable[[str, SearchedHistory], Verdict]] = {
    "symbol": _verdict_of_symbol,
    "command": _verdict_of_command,
    "flag": _verdict_of_flag,
    "dependency": _verdict_of_dependency,
    "environment variable": _verdict_of_environment,
    "setting": _verdict_of_setting,
    "branch": _verdict_of_branch,
    "commit": _verdict_of_commit,
    "pull request": _verdict_of_pull_request,
    "decision record": _verdict_of_decision,
}
