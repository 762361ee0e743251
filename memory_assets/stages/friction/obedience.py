"""Judges whether the calls of a session kept or broke a rule.

Takes a rule that can be seen and the tool calls of an agent in order; returns the first call that
breaks it, else the last one that keeps it. A call that failed or was refused was made all the same.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import product
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Literal

from memory_assets.stages.friction.shell_calls import ShellCall, read_shell_calls
from memory_assets.stages.friction.visible_rules import Commands, VisibleRule
from memory_assets.stages.friction.week import ToolCall

_WRITES_NEW = re.compile(r"(?i)^(?:write|create)")


@dataclass(frozen=True)
class RuleVerdict:
    """Whether a rule was kept in a session, and the call that shows it."""

    state: Literal["kept", "broken"]
    call: ToolCall
    text: str
    """The command, or the path of the file."""
    applied_count: int
    broken_count: int


@dataclass(frozen=True)
class Act:
    """One thing that a tool call does: a program that it runs, or a file that it writes."""

    call: ToolCall
    step: ShellCall | None = None
    path: str = ""
    is_read: bool = False
    """Whether the file is only read."""
    is_new: bool = False
    """Whether the file is written as a whole."""

    @property
    def text(self) -> str:
        """The command, or the path."""
        return self.path or (self.step.text if self.step else "")

    @property
    def is_edit(self) -> bool:
        """Whether it writes a file of the session's folder."""
        folder = self.call.session.folder
        is_absolute = bool(folder) and self.path.startswith("/")
        is_inside = not is_absolute or PurePosixPath(self.path).is_relative_to(folder)
        return bool(self.path) and not self.is_read and is_inside

    def runs(self, commands: Commands) -> bool:
        """Returns whether it runs one of the commands."""
        return (
            self.step is not None
            and not self.path
            and any(each.matches(self.step) for each in commands)
        )


Judged = Iterator[tuple[Act, bool]]
"""Acts to which the rule applies, and whether they keep it."""


def judge(rule: VisibleRule, session: Sequence[Act]) -> RuleVerdict | None:
    """Returns the verdict on the acts of a session; None if the rule did not apply to any."""
    programs = {act.step.program for act in session if act.step}
    understood = rule.among(programs)
    return _verdict(understood, session) if understood else None


def _verdict(rule: VisibleRule, session: Sequence[Act]) -> RuleVerdict | None:
    acts = [act for act in session if _is_there(rule.place, act)]
    if rule.files:
        judged = list(_file_edits(rule, acts))
    elif rule.required:
        judged = list(_options(rule, acts))
    elif rule.forbidden:
        judged = list(_choices(rule, acts))
    else:
        judged = list(_order(rule, acts))
    if not judged:
        return None
    broken = [act for act, is_kept in judged if not is_kept]
    shown = broken[0] if broken else judged[-1][0]
    state = "broken" if broken else "kept"
    return RuleVerdict(state, shown.call, shown.text, len(judged), len(broken))


def acts_of(call: ToolCall) -> Iterator[Act]:
    """Yields what the call runs, reads and writes, in order."""
    for found in read_shell_calls(call.command):
        step = replace(found, folder=str(PurePosixPath(call.folder, found.folder)))
        yield Act(call, step)
        for path in step.written:
            whole = str(PurePosixPath(step.folder, path))
            yield Act(call, step, whole, is_new=path in step.output)
    for path in call.files_read:
        yield Act(call, is_read=True, path=path)
    for path in call.files_modified:
        yield Act(call, None, path, is_new=bool(_WRITES_NEW.match(call.tool)))


def _choices(rule: VisibleRule, acts: Sequence[Act]) -> Judged:
    launchers = {command.words[0] for command in (*rule.launchers, *rule.preferred)}
    bases = tuple(filter(None, (command.without_needs for command in rule.forbidden)))
    for act in acts:
        if act.step and act.runs(rule.forbidden):
            yield act, act.step.launcher in launchers
        elif act.runs(rule.preferred) or act.runs(bases):
            yield act, True


def _options(rule: VisibleRule, acts: Sequence[Act]) -> Judged:
    for act in acts:
        if act.step and act.runs(rule.then):
            command = next(each for each in rule.then if each.matches(act.step))
            yield act, command.has_all(act.step, rule.required)


def _order(rule: VisibleRule, acts: Sequence[Act]) -> Judged:
    """Yields the calls that something must precede: again after an edit behind such a call."""
    is_done = False
    is_used = False
    for act in acts:
        if act.runs(rule.first) or _writes(rule.first_files, act):
            is_done = not (rule.must_pass and act.call.is_failed)
            is_used = False
        elif act.is_edit:
            is_done = is_done and not (rule.is_again or is_used)
        elif act.runs(rule.then) and not _is_cut_short(act):
            yield act, is_done
            is_used = not act.call.is_failed
            is_done = is_done and not (rule.is_each and is_used)


def _writes(patterns: Sequence[str], act: Act) -> bool:
    return act.is_edit and any(is_file(each, act) for each in patterns)


def _is_cut_short(act: Act) -> bool:
    """Returns whether the command line may have ended before it, because a call in it failed."""
    return act.call.is_failed and act.step is not None and act.step.is_conditional


def _file_edits(rule: VisibleRule, acts: Sequence[Act]) -> Judged:
    for act in acts:
        if act.path and any(is_file(pattern, act) for pattern in rule.files):
            yield act, act.is_read or (rule.is_of_existing and act.is_new)
            continue
        is_named = any(is_file(*pair) for pair in product(rule.files, _mentions(act)))
        if is_named or act.runs(rule.preferred):
            yield act, True


def _mentions(act: Act) -> Iterator[Act]:
    """Yields an act for each file that a program is given."""
    for word in act.step.arguments if act.step and not act.path else ():
        yield replace(act, path=str(PurePosixPath(act.step.folder if act.step else "", word)))


def is_file(pattern: str, act: Act) -> bool:
    """Returns whether the act's path is the file, or in the folder, that the pattern names."""
    path = normpath(act.path)
    folder = act.call.session.folder
    if folder and path.startswith("/") and not pattern.startswith("/"):
        if not PurePosixPath(path).is_relative_to(folder):
            return False
        path = str(PurePosixPath(path).relative_to(folder))
    is_at_start = pattern.startswith(("./", "/"))
    wanted = normpath(pattern.replace("**/", ""))
    is_folder = pattern.endswith("/") or "." not in PurePosixPath(wanted).name
    ends = ("", "/*") if is_folder else ("",)
    front = "" if is_at_start else "*/"
    whole = path if is_at_start else f"/{path}"
    return any(fnmatch(whole, f"{front}{wanted}{end}") for end in ends)


def _is_there(place: str, act: Act) -> bool:
    """Returns whether the act is in the folder or project; everywhere if the rule names none."""
    if not place:
        return True
    folder = act.step.folder if act.step else ""
    words = act.step.words if act.step else ()
    paths = (act.call.session.project, act.call.session.folder, act.path, folder, *words)
    parts = PurePosixPath(place).parts
    whole = ["/".join(PurePosixPath(path).parts) for path in paths]
    return any(f"/{'/'.join(parts)}/" in f"/{path}/" for path in whole)
