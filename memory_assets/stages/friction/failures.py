"""Calls that fail in the same way in one session after another, and what each session did to get past it.

A failure is known by the line that tells what went wrong, without numbers and paths. Only where the transcripts show a way
past it is there something to propose: a command that had to run first, a variable, another option, another program. A failing
test, build or search is work and no friction. Wrong use of a tool (an option that it does not have, a command that is not
there, an edit of a file that was not read) is told from trouble around it (a service that is down, a variable not set).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction.commands import doing, steps_of, words_of
from memory_assets.stages.friction.finding import (
    TROUBLE_SECTION,
    Finding,
    Occurrence,
    agents_md,
    minutes_between,
    most_common_session,
    sessions_in,
)
from memory_assets.stages.friction.groups import cluster, similarities
from memory_assets.stages.friction.week import Call, Week

FEWEST_SESSIONS, IN_TWO_SESSIONS = 3, 4
"""Twice is chance; two sessions count where it happened four times in them."""

SAME_FAILURE = 0.9
"""Cosine of two error lines of one program: above it they differ in a name or a wording."""

NEXT_CALLS = 15
"""A way past a failure that is not found within so many calls was not looked for."""

LIKE_BEFORE = 0.6
"""Share of a command's words that the attempt that worked has, too."""

_GENERIC = re.compile(
    r"^\W*(?:exit (?:code|status)\b.{0,12}|make(?:\[\d+\])?: \*\*\*.*|npm (?:err|error)[!\w ]*|fail\W*|error\W*"
    r"|command failed.*|\W*)$",
    re.I,
)
_TELLING = re.compile(
    r"error|exception|fatal|fail|refused|denied|not found|no such|cannot|can't|could not|unable|not set|missing|invalid"
    r"|unknown"
    r"|unexpected|unrecognized|timed? ?out|unavailable|unreachable|no \w+ available|already (?:in use|exists|allocated)"
    r"|locked|expired",
    re.I,
)
_WORK = re.compile(
    r"\bassert|--- FAIL|^\s*FAIL\b|error TS\d|undefined:|undeclared|cannot use |syntax ?error|expected\b.*\b(?:got"
    r"|received|found|actual)"
    r"|^\W*expected:|(?:Name|Type|Reference|Attribute|Key|Index|Value|Import|ModuleNotFound)Error|panic:"
    r"|cannot find name|imported and not"
    r"|declared and not|build failed|\bcompil|error\[E\d+\]|mismatched types|:\d+:\d+: |\bissues?:$|tests? failed"
    r"|failing tests?|✗|× ",
    re.I | re.M,
)
_REJECTED = re.compile(
    r"doesn't want to proceed|tool use was rejected|user rejected|interrupted by user|permission .*(?:haven't|not) granted",
    re.I,
)
_MISUSED = re.compile(
    r"command not found|not recognized as|unexpected argument|unknown (?:option|flag|command|argument|shorthand|subcommand)"
    r"|unrecognized (?:option|argument|subcommand|command)|(?:invalid|illegal) option|no such (?:option|command|subcommand)"
    r"|is not a git command|flag provided but not defined|tool_use_error|has not been read|modified since read"
    r"|to replace not found|must match exactly|eisdir|inputvalidation",
    re.I,
)
_KNOWN_CURES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"has not been read yet", re.I), "Read a file before you edit or write it"),
    (
        re.compile(r"modified since (?:it was )?(?:last )?read", re.I),
        "Read a file again before you edit it, once a formatter or a person may have changed it",
    ),
    (
        re.compile(r"to replace not found|must match exactly", re.I),
        "Read the lines again before an edit, and copy the text to replace from there with its whitespace",
    ),
    (
        re.compile(r"\.lock': file exists|cannot lock ref", re.I),
        "Run git commands one after another, never two at once: they lock each other out",
    ),
    (
        re.compile(r"could not resolve host", re.I),
        "A sandbox without a network cannot reach the remote: ask at once to run the command outside it",
    ),
    (re.compile(r"eisdir|is a directory", re.I), "Read takes files; list a folder with `ls`"),
)
"""What helps against errors of the harnesses' own tools and of git, which say themselves what was wrong."""

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
class Failure:
    """A call that failed, the line that tells why, and what got the session past it."""

    call: Call
    line: str
    signature: str
    way: "Way | None"

    @property
    def is_misuse(self) -> bool:
        """Whether the tool was used wrongly, rather than something around it being amiss."""
        return _MISUSED.search(self.line) is not None


@dataclass(frozen=True)
class Way:
    """What got a session past a failure: commands that ran in between, or other words; and the call that worked."""

    first: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    success: Call

    @property
    def what(self) -> tuple[tuple[str, ...], ...]:
        """What makes two ways the same."""
        return (self.added, self.removed) if self.added or self.removed else (self.first,)


def find_failures(week: Week, embedder: Embedder) -> list[Finding]:
    """Returns what failed in the same way in three sessions or more, with what three of them show to help."""
    failures = [failure for calls in week.calls_by_session().values() for failure in _failures(calls)]
    found = []
    for program in sorted({_program(failure.call) for failure in failures}):
        own = [failure for failure in failures if _program(failure.call) == program]
        for group in _same(own, embedder):
            if (finding := _finding(program, group)) is not None:
                found.append(finding)
    return found


def telling_line(output: str) -> str | None:
    """Returns the line that tells what went wrong; nothing where the output is that of work: tests, builds, searches."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _GENERIC.match(line)]
    if not lines or _REJECTED.search(output) or _WORK.search(output):
        return None
    telling = [line for line in lines if _TELLING.search(line)]
    if not telling:
        return None
    line = telling[-1] if lines[0].startswith("Traceback") else telling[0]
    return None if _NAMES_FILE.search(line) else _tidy(line)


def signature_of(line: str) -> str:
    """Returns the line without what differs from one time to the next."""
    for pattern, instead in _VOLATILE:
        line = pattern.sub(instead, line)
    return line.strip().lower()


def _failures(calls: Sequence[Call]) -> list[Failure]:
    found = []
    for at, call in enumerate(calls):
        line = telling_line(call.output) if call.is_failed else None
        if line is not None:
            later = calls[at + 1 : at + 1 + NEXT_CALLS]
            found.append(Failure(call, line, signature_of(line), _way_past(call, later)))
    return found


def _program(call: Call) -> str:
    """Returns what ran: the program of the last step, which is the one that failed, or the tool."""
    steps = steps_of(call.command) if call.command else ()
    return steps[-1].program if steps else call.tool.lower()


def _way_past(failed: Call, later: Sequence[Call]) -> Way | None:
    """Returns how the same was done at last."""
    wanted = set(words_of(failed.command))
    if not wanted:
        return None
    for at, call in enumerate(later):
        words = set(words_of(call.command)) if call.command else set()
        if call.is_failed or len(wanted & words) < LIKE_BEFORE * min(len(wanted), len(words) or 1):
            continue
        ran = [one.command for one in later[:at] if one.command and not one.is_failed]
        first = tuple(dict.fromkeys(step.text for step in doing(ran)))
        before, after = words_of(failed.command), words_of(call.command)
        added = tuple(word for word in after if word not in wanted)
        removed = tuple(word for word in before if word not in words)
        return Way(first, added, removed, call) if first or added or removed else None
    return None


def _same(failures: Sequence[Failure], embedder: Embedder) -> list[list[Failure]]:
    """Returns the failures in groups of the same signature, or nearly."""
    signatures = sorted({failure.signature for failure in failures})
    groups = cluster(similarities(embedder.encode(signatures)), SAME_FAILURE)
    return [[failure for failure in failures if failure.signature in {signatures[n] for n in group}] for group in groups]


def _finding(program: str, group: Sequence[Failure]) -> Finding | None:
    occurrences = tuple(_occurrence(failure) for failure in group)
    sessions = sessions_in(occurrences)
    if sessions < FEWEST_SESSIONS and (sessions < 2 or len(occurrences) < IN_TWO_SESSIONS):
        return None
    cure = _cure(group)
    if cure is None:
        return None
    session = most_common_session(occurrences)
    is_misuse = any(failure.is_misuse for failure in group)
    line = group[-1].line
    return Finding(
        kind="tool_misuse" if is_misuse else "recurring_failure",
        subject=f"{program} {group[0].signature}",
        title=f"`{program}` fails in the same way: “{line}”",
        target=agents_md(session),
        section=TROUBLE_SECTION,
        new=f"{cure} (“{line}”).",
        occurrences=occurrences,
    )


def _cure(group: Sequence[Failure]) -> str | None:
    """Returns what to do instead, where it is known of the tool or two sessions found the same way past."""
    line = group[-1].line
    known = next((cure for pattern, cure in _KNOWN_CURES if pattern.search(line)), None)
    if known:
        return known
    ways = [failure for failure in group if failure.way]
    if not ways:
        return None
    counts = Counter(what for session in {f.call.session.id for f in ways} for what in _ways_of(session, ways))
    what, count = max(counts.items(), key=lambda entry: (entry[1], str(entry[0])))
    if count < 2:
        return None
    failure = next(failure for failure in reversed(ways) if failure.way and failure.way.what == what)
    return _told(failure)


def _ways_of(session_id: str, ways: Sequence[Failure]) -> set[tuple[tuple[str, ...], ...]]:
    return {failure.way.what for failure in ways if failure.way and failure.call.session.id == session_id}


def _told(failure: Failure) -> str:
    way = failure.way
    assert way is not None
    tried = _short(failure.call.command)
    if not way.added and not way.removed:
        first = " and ".join(f"`{_short(step)}`" for step in way.first)
        return f"Before `{tried}`, run {first}: without it, it fails"
    assignments = [word for word in way.added if "=" in word and not word.startswith("-")]
    if way.added and assignments == list(way.added) and not way.removed:
        return f"Run `{tried}` with `{' '.join(assignments)}` set: without it, it fails"
    return f"Run `{_short(way.success.command)}`, not `{tried}`, which fails"


def _occurrence(failure: Failure) -> Occurrence:
    call, way = failure.call, failure.way
    ended = (way.success.done_at or way.success.at) if way else (call.done_at or call.at)
    shown = (*call.message_ids, *(way.success.message_ids if way else ()))
    return Occurrence(call.session, shown, call.at, minutes_between(call.at, ended))


def _tidy(line: str) -> str:
    return _short(re.sub(r"</?tool_use_error>", "", line))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rsplit(" ", 1)[0] + "…"
