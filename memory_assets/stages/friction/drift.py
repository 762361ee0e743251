"""Things that do not stay as they were put: services that are restarted by hand, settings that are put back again and again.

A restart in three sessions is told with the cause that an assistant gave, where one did. The same edit of a file of settings in
three sessions means that something resets it; the change that was made each time is the change that is proposed.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.friction.commands import Step, steps_of
from memory_assets.stages.friction.finding import (
    TROUBLE_SECTION,
    Finding,
    Occurrence,
    agents_md,
    minutes_between,
    most_common_session,
    sessions_in,
)
from memory_assets.stages.friction.week import Call, Edit, Said, Week
from memory_assets.text.sentences import split_message

FEWEST_SESSIONS = 3

_SUPERVISORS = frozenset(
    """docker docker-compose podman systemctl service launchctl pm2 supervisorctl brew kubectl fly flyctl heroku rc-service
    nomad""".split()
)
_RESTARTS = frozenset("restart kickstart reload bounce try-restart".split())
_KILLERS = frozenset(("pkill", "killall"))
_SETTINGS = re.compile(
    r"(?:^|/)(?:config|settings|conf|environments?)/|(?:config|settings|compose)[^/]*\.\w+$|\.(?:toml|ya?ml|ini|cfg"
    r"|conf|env|properties|plist|service)$"
    r"|(?:^|/)(?:\.env[\w.]*|Dockerfile|Makefile|Procfile|\.\w+rc)$|(?:^|/)\.[\w.-]+\.json$",
    re.I,
)
_RECORDS = re.compile(r"(?:^|/)(?:changelog|readme)|lock\.\w+$|\.lock$|(?:^|/)(?:package|go)\.(?:json|mod|sum)$", re.I)
_LONGEST_CAUSE = 200


def find_drift(week: Week) -> list[Finding]:
    """Returns the services that were restarted, and the settings that were put back, in three sessions or more."""
    return [*_restarts(week), *_edits(week)]


def restarted(step: Step) -> str | None:
    """Returns the service that the command restarts."""
    words = [word for word in step.words[1:] if not word.startswith("-")]
    if step.program in _KILLERS and words:
        return words[-1].strip("'\"")
    if step.program not in _SUPERVISORS or not _RESTARTS & set(words):
        return None
    names = words[words.index(next(word for word in words if word in _RESTARTS)) + 1 :] or words[:1]
    return names[-1].rsplit("/", 1)[-1].removesuffix(".service")


def _restarts(week: Week) -> list[Finding]:
    by_service: dict[tuple[str, str], list[tuple[Call, Step]]] = defaultdict(list)
    for call in week.calls:
        for step in steps_of(call.command) if call.command else ():
            if not call.is_failed and (service := restarted(step)):
                by_service[call.session.project, service].append((call, step))
    said = week.said_by_session()
    found = (_restart(service, ran, said) for (_, service), ran in sorted(by_service.items()))
    return [finding for finding in found if finding]


def _restart(service: str, ran: Sequence[tuple[Call, Step]], said: dict[str, list[Said]]) -> Finding | None:
    causes = [_cause(call, service, said.get(call.session.id, ())) for call, _ in ran]
    occurrences = tuple(_occurrence(call, cause, said) for (call, _), cause in zip(ran, causes, strict=True))
    if sessions_in(occurrences) < FEWEST_SESSIONS:
        return None
    told = next((cause for cause in reversed(causes) if cause), None)
    why = f" The cause that was found: {told[1]}" if told else ""
    end = "mend that before you restart it once more." if told else "look for the cause before you restart it once more."
    command = ran[-1][1].text
    return Finding(
        kind="configuration_drift",
        subject=f"restart {service}",
        title=f"`{service}` is restarted by hand, session after session",
        target=agents_md(most_common_session(occurrences)),
        section=TROUBLE_SECTION,
        new=f"`{service}` keeps dying: a restart (`{command}`) helps only until the next time.{why} So {end}",
        occurrences=occurrences,
    )


def _cause(call: Call, service: str, said: Sequence[Said]) -> tuple[Said, str] | None:
    """Returns the sentence after the restart in which the assistant names the cause, and who said it."""
    for reply in said:
        if reply.place < call.place or reply.is_owner:
            continue
        for sentence in split_message(reply.text):
            is_cause = cues.ASSISTANT_CUES[0].pattern.search(sentence.text) or re.search(
                r"\bbecause\b|\bdue to\b", sentence.text
            )
            if is_cause and service.lower() in sentence.text.lower() and len(sentence.text) <= _LONGEST_CAUSE:
                return reply, sentence.text
    return None


def _occurrence(call: Call, cause: tuple[Said, str] | None, said: dict[str, list[Said]]) -> Occurrence:
    before = [one for one in said.get(call.session.id, ()) if one.place < call.place and one.is_owner]
    shown = (*call.message_ids, *((cause[0].message_id,) if cause else ()))
    since = before[-1].at if before else call.at
    return Occurrence(call.session, shown, call.at, minutes_between(since, call.done_at or call.at))


def _edits(week: Week) -> list[Finding]:
    by_edit: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for call in week.calls:
        edit = call.edit
        if edit and edit.old and not call.is_failed and _SETTINGS.search(edit.path) and not _RECORDS.search(edit.path):
            by_edit[_absolute(call, edit), _squeezed(edit.old), _squeezed(edit.new)].append(call)
    found = (_edit(path, calls) for (path, _, _), calls in sorted(by_edit.items()))
    return [finding for finding in found if finding]


def _edit(path: str, calls: Sequence[Call]) -> Finding | None:
    occurrences = tuple(Occurrence(call.session, call.message_ids, call.at) for call in calls)
    edit = calls[-1].edit
    if edit is None or sessions_in(occurrences) < FEWEST_SESSIONS:
        return None
    return Finding(
        kind="configuration_drift",
        subject=f"edit {path} {_squeezed(edit.new)}",
        title=f"The same edit of `{path.rsplit('/', 1)[-1]}` in session after session: something resets it",
        target=path,
        section="",
        old=edit.old,
        new=edit.new,
        occurrences=occurrences,
    )


def _absolute(call: Call, edit: Edit) -> str:
    return edit.path if edit.path.startswith("/") else f"{call.session.folder}/{edit.path}"


def _squeezed(text: str) -> str:
    return " ".join(text.split())
