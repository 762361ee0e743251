"""Finds calls that fail in the same way in several sessions, and what each session did to get past the failure.

A failure is identified by its error line, without numbers and paths. It is only reported if the transcripts show a workaround:
a command that had to run first, a variable, another option, another program. A failing test, build or search is normal work.
Misuse of a tool (an unknown option, a missing command, an edit of an unread file) is separated from trouble around it (a
service that is down, an unset variable).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction.commands import parse_steps, words_of
from memory_assets.stages.friction.finding import TROUBLE_SECTION, Occurrence, RecurringProblem
from memory_assets.stages.friction.groups import cluster, similarities
from memory_assets.stages.friction.week import ToolCall, Week

FEWEST_SESSIONS, IN_TWO_SESSIONS = 3, 4
"""Twice is chance; two sessions count if it happened four times in them."""

SAME_FAILURE = 0.9
"""Cosine of two error lines of one program: above it they differ in a name or a wording."""

NEXT_CALLS = 15
"""Calls after a failure in which a workaround is looked for."""

LIKE_BEFORE = 0.6
"""Share of a command's words that the successful attempt has, too."""

_GENERIC = re.compile(
    r"(?i)^\W*(?:exit (?:code|status)\b.{0,12}|make(?:\[\d+\])?: \*\*\*.*|npm (?:err|error)[!\w ]*|fail\W*|error\W*"
    r"|command failed.*|\W*)$"
)
_ERROR = re.compile(
    r"(?i)error|exception|fatal|fail|refused|denied|not found|no such|cannot|can't|could not|unable|not set|missing|invalid"
    r"|unknown|unexpected|unrecognized|timed? ?out|unavailable|unreachable|no \w+ available|already (?:in use|exists"
    r"|allocated)|locked|expired"
)
_WORK = re.compile(
    r"(?im)\bassert|--- FAIL|^\s*FAIL\b|error TS\d|undefined:|undeclared|cannot use |syntax ?error|expected\b.*\b(?:got"
    r"|received|found|actual)|^\W*expected:|(?:Name|Type|Reference|Attribute|Key|Index|Value|Import|ModuleNotFound)Error|panic:"
    r"|cannot find name|imported and not|declared and not|build failed|\bcompil|error\[E\d+\]|mismatched types|:\d+:\d+: "
    r"|\bissues?:$|tests? failed|failing tests?|✗|× "
)
_REJECTED = re.compile(
    r"(?i)doesn't want to proceed|tool use was rejected|user rejected|interrupted by user|permission .*(?:haven't|not) granted"
)
_MISUSED = re.compile(
    r"(?i)command not found|not recognized as|unexpected argument|unknown (?:option|flag|command|argument|shorthand|subcommand)"
    r"|unrecognized (?:option|argument|subcommand|command)|(?:invalid|illegal) option|no such (?:option|command|subcommand)"
    r"|is not a git command|flag provided but not defined|tool_use_error|has not been read|modified since read"
    r"|to replace not found|must match exactly|eisdir|inputvalidation"
)
_KNOWN_REMEDIES = {
    r"has not been read yet": "Read a file before you edit or write it",
    r"modified since (?:it was )?(?:last )?read": (
        "Read a file again before you edit it, once a formatter or a person may have changed it"
    ),
    r"to replace not found|must match exactly": (
        "Read the lines again before an edit, and copy the text to replace from there with its whitespace"
    ),
    r"\.lock': file exists|cannot lock ref": "Run git commands one after another, never two at once: they lock each other out",
    r"could not resolve host": "A sandbox without a network cannot reach the remote: ask at once to run the command outside it",
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
_NAMES_FILE = re.compile(r"no such file or directory|file does not exist|cannot access|not a directory", re.I)


@dataclass(frozen=True)
class Workaround:
    """What got a session past a failure: commands that ran in between, or other words; and the call that worked."""

    first: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    success: ToolCall

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """Equal for workarounds that do the same."""
        return (self.added, self.removed) if self.added or self.removed else (self.first,)


@dataclass(frozen=True)
class Failure:
    """A failed call, its program, its error line, and what got the session past it."""

    call: ToolCall
    program: str
    line: str
    signature: str
    workaround: Workaround | None


def find_failures(week: Week, embedder: Embedder) -> list[RecurringProblem]:
    """Returns what failed in the same way in three sessions or more, with what got sessions past it."""
    failures = [failure for calls in week.calls_by_session().values() for failure in _failures(calls)]
    found = []
    for program in sorted({failure.program for failure in failures}):
        own = [failure for failure in failures if failure.program == program]
        found += [_problem(program, group) for group in _same(own, embedder)]
    return [problem for problem in found if problem]


def error_line(output: str) -> str | None:
    """Returns the line that says what went wrong; None if the output is that of normal work: tests, builds, searches."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _GENERIC.match(line)]
    errors = [line for line in lines if _ERROR.search(line)]
    if not errors or _REJECTED.search(output) or _WORK.search(output):
        return None
    line = errors[-1] if lines[0].startswith("Traceback") else errors[0]
    return None if _NAMES_FILE.search(line) else _short(re.sub(r"</?tool_use_error>", "", line))


def signature_of(line: str) -> str:
    """Returns the line without what differs from one time to the next."""
    for pattern, instead in _VOLATILE:
        line = pattern.sub(instead, line)
    return line.strip().lower()


def _failures(calls: Sequence[ToolCall]) -> list[Failure]:
    found = []
    for at, call in enumerate(calls):
        if call.is_failed and (line := error_line(call.output)) is not None:
            steps = parse_steps(call.command)
            program = steps[-1].program if steps else call.tool.lower()  # the last step is the one that failed
            workaround = _workaround(call, calls[at + 1 : at + 1 + NEXT_CALLS])
            found.append(Failure(call, program, line, signature_of(line), workaround))
    return found


def _workaround(failed: ToolCall, later: Sequence[ToolCall]) -> Workaround | None:
    """Returns how the same was achieved later."""
    before = words_of(failed.command)
    wanted = set(before)
    for at, call in enumerate(later if wanted else ()):
        after = words_of(call.command)
        words = set(after)
        if call.is_failed or len(wanted & words) < LIKE_BEFORE * min(len(wanted), len(words) or 1):
            continue
        ran = (step for one in later[:at] if not one.is_failed for step in parse_steps(one.command))
        first = tuple(dict.fromkeys(step.text for step in ran if not step.is_routine))
        added = tuple(word for word in after if word not in wanted)
        removed = tuple(word for word in before if word not in words)
        return Workaround(first, added, removed, call) if first or added or removed else None
    return None


def _same(failures: Sequence[Failure], embedder: Embedder) -> list[list[Failure]]:
    """Returns the failures in groups of the same signature, or nearly."""
    signatures = sorted({failure.signature for failure in failures})
    groups = cluster(similarities(embedder.encode(signatures)), SAME_FAILURE)
    return [[failure for failure in failures if failure.signature in {signatures[n] for n in group}] for group in groups]


def _problem(program: str, group: Sequence[Failure]) -> RecurringProblem | None:
    line, remedy = group[-1].line, _remedy(group)
    problem = RecurringProblem(
        kind="tool_misuse" if any(_MISUSED.search(failure.line) for failure in group) else "recurring_failure",
        subject=f"{program} {group[0].signature}",
        title=f"`{program}` fails in the same way: “{line}”",
        section=TROUBLE_SECTION,
        new=f"{remedy} (“{line}”).",
        occurrences=tuple(_occurrence(failure) for failure in group),
    )
    sessions = len(problem.session_ids)
    is_often = sessions >= FEWEST_SESSIONS or (sessions == 2 and len(group) >= IN_TWO_SESSIONS)
    return problem if is_often and remedy else None


def _remedy(group: Sequence[Failure]) -> str | None:
    """Returns what to do instead, if it is known of the tool or two sessions found the same workaround."""
    if known := next((remedy for pattern, remedy in _KNOWN_REMEDIES.items() if re.search(pattern, group[-1].line, re.I)), None):
        return known
    found = [(failure, failure.workaround) for failure in group if failure.workaround]
    counts = Counter(key for _, key in {(failure.call.session.id, way.key) for failure, way in found})
    key, count = max(counts.items(), key=lambda entry: (entry[1], str(entry[0])), default=((), 0))
    if count < 2:
        return None
    failure, way = next((failure, way) for failure, way in reversed(found) if way.key == key)
    failed = _short(failure.call.command)
    if not way.added and not way.removed:
        first = " and ".join(f"`{_short(step)}`" for step in way.first)
        return f"Before `{failed}`, run {first}: without it, it fails"
    if not way.removed and all("=" in word and not word.startswith("-") for word in way.added):
        return f"Run `{failed}` with `{' '.join(way.added)}` set: without it, it fails"
    return f"Run `{_short(way.success.command)}`, not `{failed}`, which fails"


def _occurrence(failure: Failure) -> Occurrence:
    call, success = failure.call, failure.workaround.success if failure.workaround else failure.call
    shown = dict.fromkeys((*call.message_ids, *success.message_ids))
    return Occurrence(call.session, tuple(shown), call.at, (success.done_at or success.at) - call.at)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rsplit(" ", 1)[0] + "…"
