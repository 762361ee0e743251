"""Finds what does not stay as configured: services restarted by hand, settings that are put back
again and again.

A restart in three sessions is reported with the cause that an assistant named, if one did. The same
edit of a settings file in three sessions means that something resets it; that edit is proposed.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from memory_assets.english.causes import CAUSE
from memory_assets.stages.friction.commands import CommandStep, parse_steps
from memory_assets.stages.friction.finding import TROUBLE_SECTION, Occurrence, RecurringProblem
from memory_assets.stages.friction.week import FileEdit, ToolCall, Utterance, Week
from memory_assets.text.sentences import split_message
from memory_assets.text.words import squeezed, word_set

FEWEST_SESSIONS = 3

_SUPERVISORS = word_set("""docker docker-compose podman systemctl service launchctl pm2
    supervisorctl brew kubectl fly flyctl heroku rc-service nomad""")
_RESTARTS = word_set("restart kickstart reload bounce try-restart")
_KILLERS = frozenset(("pkill", "killall"))
_SETTINGS = re.compile(
    r"(?i)(?:^|/)(?:config|settings|conf|environments?)/|(?:config|settings|compose)[^/]*\.\w+$"
    r"|\.(?:toml|ya?ml|ini|cfg|conf|env|properties|plist|service)$"
    r"|(?:^|/)(?:\.env[\w.]*|Dockerfile|Makefile|Procfile|\.\w+rc|\.[\w.-]+\.json)$"
)
_RECORDS = re.compile(
    r"(?:^|/)(?:changelog|readme)|lock\.\w+$|\.lock$|(?:^|/)(?:package|go)\.(?:json|mod|sum)$", re.I
)
_GIVES_REASON = re.compile(r"\bbecause\b|\bdue to\b")
_LONGEST_CAUSE = 200


def find_drift(week: Week) -> list[RecurringProblem]:
    """Returns the services that were restarted, and the settings that were put back, in three
    sessions or more.
    """
    return [
        problem
        for problem in [*_restarts(week), *_edits(week)]
        if len(problem.session_ids) >= FEWEST_SESSIONS
    ]


def restarted(step: CommandStep) -> str | None:
    """Returns the service that the command restarts."""
    words = [word for word in step.words[1:] if not word.startswith("-")]
    if step.program in _KILLERS and words:
        return words[-1].strip("'\"")
    if step.program not in _SUPERVISORS or not _RESTARTS & set(words):
        return None
    names = words[words.index(next(word for word in words if word in _RESTARTS)) + 1 :] or words[:1]
    return names[-1].rsplit("/", 1)[-1].removesuffix(".service")


def _restarts(week: Week) -> list[RecurringProblem]:
    by_service: dict[tuple[str, str], list[tuple[ToolCall, CommandStep]]] = defaultdict(list)
    for call in week.calls:
        for step in parse_steps(call.command):
            if not call.is_failed and (service := restarted(step)):
                by_service[call.session.project, service].append((call, step))
    said = week.utterances_by_session()
    return [_restart(service, ran, said) for (_, service), ran in sorted(by_service.items())]


def _restart(
    service: str, ran: Sequence[tuple[ToolCall, CommandStep]], said: dict[str, list[Utterance]]
) -> RecurringProblem:
    causes = [_cause(call, service, said.get(call.session.id, ())) for call, _ in ran]
    known = next((cause for cause in reversed(causes) if cause), None)
    remedy = f"The cause that was found: {known[1]} So fix that" if known else "So find the cause"
    command = ran[-1][1].text
    return RecurringProblem(
        kind="configuration_drift",
        subject=f"restart {service}",
        title=f"`{service}` is restarted by hand, session after session",
        section=TROUBLE_SECTION,
        new=f"`{service}` keeps dying: a restart (`{command}`) helps only until the next time. "
        f"{remedy} before you restart it again.",
        occurrences=tuple(
            _occurrence(call, cause, said) for (call, _), cause in zip(ran, causes, strict=True)
        ),
    )


def _cause(call: ToolCall, service: str, said: Sequence[Utterance]) -> tuple[Utterance, str] | None:
    """Returns the sentence after the restart in which the assistant names the cause, with its
    reply.
    """
    for reply in said:
        if reply.place < call.place or reply.is_owner:
            continue
        for text in (sentence.text for sentence in split_message(reply.text)):
            is_cause = CAUSE.search(text) or _GIVES_REASON.search(text)
            if is_cause and service.lower() in text.lower() and len(text) <= _LONGEST_CAUSE:
                return reply, text
    return None


def _occurrence(
    call: ToolCall, cause: tuple[Utterance, str] | None, said: dict[str, list[Utterance]]
) -> Occurrence:
    turns = (turn for turn in said.get(call.session.id, ()) if turn.is_owner)
    moments = [call.at, *(turn.at for turn in turns if turn.place < call.place)]
    shown = (*call.message_ids, *([cause[0].message_id] if cause else []))
    return Occurrence(call.session, shown, call.at, (call.done_at or call.at) - moments[-1])


def _edits(week: Week) -> list[RecurringProblem]:
    by_edit: dict[tuple[str, str, str], list[tuple[ToolCall, FileEdit]]] = defaultdict(list)
    for call in week.calls:
        edit = None if call.is_failed else call.edit
        if edit and edit.old and _SETTINGS.search(edit.path) and not _RECORDS.search(edit.path):
            path = edit.path if edit.path.startswith("/") else f"{call.session.folder}/{edit.path}"
            by_edit[path, squeezed(edit.old), squeezed(edit.new)].append((call, edit))
    return [
        RecurringProblem(
            kind="configuration_drift",
            subject=f"edit {path} {new}",
            title=f"The same edit of `{path.rsplit('/', 1)[-1]}` in session after session: "
            "something resets it",
            file=path,
            section="",
            old=edits[-1][1].old,
            new=edits[-1][1].new,
            occurrences=tuple(
                Occurrence(call.session, call.message_ids, call.at) for call, _ in edits
            ),
        )
        for (path, _, new), edits in sorted(by_edit.items())
    ]
