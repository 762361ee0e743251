"""Finds calls that fail in the same way in several sessions, and what each session did to get past
the failure.

A failure is identified by its error line, without numbers and paths. It is only reported if the
transcripts show a workaround: a command that had to run first, a variable, another option, another
program. A failing test, build or search is normal work. Misuse of a tool (an unknown option, a
missing command, an edit of an unread file) is separated from trouble around it (a service that is
down, an unset variable).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction import finding
from memory_assets.stages.friction.commands import CommandStep, parse_steps, words_of
from memory_assets.stages.friction.groups import cluster, similarities
from memory_assets.stages.friction.week import ToolCall, Week

FEWEST_SESSIONS, IN_TWO_SESSIONS = 3, 4
"""Twice is chance; two sessions count if it happened four times in them, or was cured three times
in the same way.
"""

SAME_FAILURE, SAME_CURED = 0.9, 0.5
"""Cosine of two error lines of one program: above it they differ in a name or a wording; of two
with the same cure.
"""

FEW_LINES = 4
"""A failed call that prints no more says what went wrong in its first line, whatever its words."""

NEXT_CALLS = 15
"""Calls after a failure in which a workaround is looked for."""

LIKE_BEFORE = 0.6
"""Share of a command's words that the successful attempt has, too."""

_GENERIC = re.compile(
    r"(?i)^\W*(?:exit (?:code|status)\b.{0,12}|make(?:\[\d+\])?: \*\*\*.*"
    r"|npm (?:err|error)[!\w ]*|(?:fail|error)?\W*|command failed.*)$"
)
_ERROR = re.compile(
    r"(?i)error|exception|fatal|fail|refused|denied|not (?:found|set)|no such|can(?:no|')t"
    r"|could not|unable|missing|invalid|un(?:known|expected|recognized|available|reachable)"
    r"|timed? ?out|no \w+ available|already (?:in use|exists|allocated)|locked|expired"
)
_WORK = re.compile(
    r"(?im)\bassert|--- FAIL|^\s*FAIL\b|error TS\d|undefined:|undeclared|cannot (?:use|find name) "
    r"|syntax ?error|expected\b.*\b(?:got|received|found|actual)|^\W*expected:|panic:|\bcompil"
    r"|(?:Name|Type|Reference|Attribute|Key|Index|Value)Error|(?:imported|declared) and not"
    r"|build failed|error\[E\d+\]|mismatched types|:\d+:\d+: |\bissues?:$|tests? failed"
    r"|failing tests?|✗|× "
)
_REJECTED = re.compile(
    r"(?i)doesn't want to proceed|tool use was rejected|user rejected|interrupted by user"
    r"|permission .*(?:haven't|not) granted"
)
_MISUSED = re.compile(
    r"(?i)command not found|not recognized as|tool_use_error|has not been read|modified since read"
    r"|(?:unexpected|unknown|unrecognized|invalid|illegal|no such) "
    r"(?:option|flag|(?:sub)?command|argument|shorthand)"
    r"|is not a git command|flag provided but not defined|to replace not found"
    r"|must match exactly|eisdir|inputvalidation"
)
_KNOWN_REMEDIES = {
    r"has not been read yet": "Read a file before you edit or write it",
    r"modified since (?:it was )?(?:last )?read": (
        "Read a file again before you edit it, once a formatter or a person may have changed it"
    ),
    r"to replace not found|must match exactly": (
        "Read the lines again before an edit, and copy the text to replace from there with "
        "its whitespace"
    ),
    r"\.lock': file exists|cannot lock ref": "Run git commands one after another, never two at "
    "once: they lock each other out",
    r"could not resolve host": "A sandbox without a network cannot reach the remote: ask "
    "at once to run the command outside it",
    r"eisdir|is a directory": "Read takes files; list a folder with `ls`",
}
"""Remedies for errors of the harnesses' own tools and of git, whose messages say what was wrong."""

_VOLATILE = (
    (re.compile(r"</?tool_use_error>"), ""),
    (re.compile(r"(?:[A-Za-z]:)?(?:[~.]{0,2}/[\w.@+-]+){2,}/?"), "/…"),
    (re.compile(r"\b[0-9a-f]{7,}\b"), "#"),
    (re.compile(r"\d+(?:[.:]\d+)*"), "#"),
    (re.compile(r"\s+"), " "),
)
_LONGEST_LINE = 160
Cure = tuple[tuple[str, ...], tuple[str, ...]]
"""Words that were added or ran before, and words that were removed."""

_NO_COMMAND = re.compile(r"([\w.+-]+): (?:command )?not found|command not found: ([\w.+-]+)")
_NAMES_FILE = re.compile(
    r"no such file or directory|file does not exist|cannot access|not a directory", re.I
)


@dataclass(frozen=True)
class Workaround:
    """What got a session past a failure: commands that ran in between, or other words; and the call
    that worked.
    """

    first: tuple[CommandStep, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    success: ToolCall

    @property
    def keys(self) -> frozenset[Cure]:
        """Equal for workarounds that do the same: the changed words, else each of the commands."""
        if self.added or self.removed:
            return frozenset(((self.added, self.removed),))
        return frozenset(map(_key, self.first))


@dataclass(frozen=True)
class Failure:
    """A failed call, its program, its error line, and what got the session past it."""

    call: ToolCall
    program: str
    line: str
    signature: str
    workaround: Workaround | None


Cured = tuple[Failure, Workaround, Cure]
"""A failure, what got its session past it, and what that has in common with other sessions."""


def find_failures(week: Week, embedder: Embedder) -> list[finding.RecurringProblem]:
    """Returns what failed in the same way in three sessions or more, with what got sessions past
    it.
    """
    failures = list(chain.from_iterable(map(_failures, week.calls_by_session().values())))
    by_program: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_program[failure.program].append(failure)
    groups = chain.from_iterable(_same(by_program[name], embedder) for name in sorted(by_program))
    return list(filter(None, map(_problem, groups)))


def error_line(output: str) -> str | None:
    """Returns the line that says what went wrong; None if the output is that of normal work: tests,
    builds, searches.
    """
    line = telling_line(output)
    if is_rejected(output) or _WORK.search(output) or _NAMES_FILE.search(line):
        return None
    return shortened_line(line) or None


def is_rejected(output: str) -> bool:
    """Returns whether a person did not let the tool run."""
    return bool(_REJECTED.search(output))


def telling_line(output: str) -> str:
    """Returns the whole line that says what went wrong; empty where none does."""
    telling = (line for line in output.splitlines() if not _GENERIC.match(line))
    lines = [line.strip() for line in telling if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    if not errors and len(lines) <= FEW_LINES:
        errors = lines[:1]
    if not errors:
        return ""
    line = errors[-1] if lines[0].startswith("Traceback") else errors[0]
    return re.sub(r"</?tool_use_error>", "", line)


def signature_of(line: str) -> str:
    """Returns the line without what differs from one time to the next."""
    for pattern, instead in _VOLATILE:
        line = pattern.sub(instead, line)
    return line.strip().lower()


def _failures(calls: Sequence[ToolCall]) -> list[Failure]:
    failures = []
    for number, call in enumerate(calls, start=1):
        line = error_line(call.output) if call.is_failed else None
        if line is not None:
            steps = parse_steps(call.command)
            # The last step is the one that failed.
            program = steps[-1].program if steps else call.tool.lower()
            workaround = find_workaround(call, calls[number : number + NEXT_CALLS])
            failures.append(Failure(call, program, line, signature_of(line), workaround))
    return failures


def find_workaround(failed: ToolCall, later: Sequence[ToolCall]) -> Workaround | None:
    """Returns how the same was achieved later: by the same words, else by words like them."""
    before = words_of(failed.command)
    wanted = set(before).difference(*_NO_COMMAND.findall(failed.output))
    if not wanted:
        return None
    worked = [call for call in later if not call.is_failed]
    words = [words_of(call.command) for call in worked]
    same = [number for number, typed in enumerate(words) if wanted.issubset(typed)]
    like = [number for number, typed in enumerate(words) if _is_like(wanted, typed)]
    if not like:
        return None
    number = (same or like)[0]
    after = words[number]
    steps = chain.from_iterable(parse_steps(call.command) for call in worked[:number])
    first = tuple({step.text: step for step in steps if not step.is_routine}.values())
    added = tuple(word for word in after if word not in before)
    removed = tuple(word for word in before if word not in after)
    is_other = first or added or removed
    return Workaround(first, added, removed, worked[number]) if is_other else None


def _is_like(wanted: Set[str], words: Collection[str]) -> bool:
    least = min(len(wanted), len(set(words)) or 1)
    return len(wanted & set(words)) >= LIKE_BEFORE * least


def _same(failures: Sequence[Failure], embedder: Embedder) -> list[list[Failure]]:
    """Returns the failures in groups of the same signature, or nearly, or of like ones that the
    same got past.
    """
    signatures = sorted({failure.signature for failure in failures})
    alike = similarities(embedder.encode(signatures))
    cures_of: dict[str, set[Cure]] = defaultdict(set)
    for failure in failures:
        if failure.workaround:
            cures_of[failure.signature].update(map(_key, failure.workaround.first))
    cures = [cures_of[signature] for signature in signatures]
    is_cured_alike = np.array([[bool(one & other) for other in cures] for one in cures])
    groups = cluster(np.where(is_cured_alike & (alike >= SAME_CURED), 1.0, alike), SAME_FAILURE)
    named = [{signatures[n] for n in group} for group in groups]
    return [[failure for failure in failures if failure.signature in names] for names in named]


def _problem(group: Sequence[Failure]) -> finding.RecurringProblem | None:
    line = group[-1].line
    program = group[0].program
    cures = _cures(group)
    remedy = _remedy(group[-1], cures)
    is_misuse = any(_MISUSED.search(failure.line) for failure in group)
    problem = finding.RecurringProblem(
        kind="tool_misuse" if is_misuse else "recurring_failure",
        subject=f"{program} {group[0].signature}",
        title=f"`{program}` fails in the same way: “{line}”",
        section=finding.TROUBLE_SECTION,
        new=f"{remedy} (“{line}”).",
        occurrences=tuple(_occurrence(failure) for failure in group),
    )
    sessions = len(problem.session_ids)
    is_often = sessions >= FEWEST_SESSIONS or (sessions == 2 and len(group) >= IN_TWO_SESSIONS)
    is_cured = sessions == 2 and len(cures) >= FEWEST_SESSIONS
    return problem if (is_often or is_cured) and remedy else None


def _cures(group: Sequence[Failure]) -> list[Cured]:
    """Returns the failures that were overcome by what most sessions did, two at least; of equal
    ones what ran last.
    """
    ways = [(failure, failure.workaround) for failure in group if failure.workaround]
    once = {(failure.call.session.id, key) for failure, way in ways for key in way.keys}
    counts = Counter(key for _, key in once)
    latest = [key for _, way in ways for key in [*map(_key, way.first), *way.keys]][::-1]
    key = min(counts, key=lambda key: (-counts[key], latest.index(key)), default=None)
    if key is None or counts[key] < 2:
        return []
    return [(failure, way, key) for failure, way in ways if key in way.keys]


def _remedy(latest: Failure, cures: Sequence[Cured]) -> str | None:
    """Returns what to do instead, if it is known of the tool or two sessions found the same
    workaround.
    """
    for pattern, remedy in _KNOWN_REMEDIES.items():
        if re.search(pattern, latest.line, re.I):
            return remedy
    if not cures:
        return None
    failure, way, key = cures[-1]
    failed = shortened_line(failure.call.command)
    if not way.added and not way.removed:
        step = next(step for step in way.first if _key(step) == key)
        return f"Before `{failed}`, run `{shortened_line(step.text)}`: without it, it fails"
    if not way.removed and all("=" in word and not word.startswith("-") for word in way.added):
        return f"Run `{failed}` with `{' '.join(way.added)}` set: without it, it fails"
    return f"Run `{shortened_line(way.success.command)}`, not `{failed}`, which fails"


def _key(step: CommandStep) -> Cure:
    return ((step.program, *step.arguments), ())


def _occurrence(failure: Failure) -> finding.Occurrence:
    call = failure.call
    success = failure.workaround.success if failure.workaround else call
    shown = dict.fromkeys((*call.message_ids, *success.message_ids))
    spent = (success.done_at or success.at) - call.at
    return finding.Occurrence(call.session, tuple(shown), call.at, spent)


def shortened_line(text: str) -> str:
    """Returns the text on one line, cut at the end of a word."""
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rsplit(" ", 1)[0] + "…"
