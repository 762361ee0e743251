"""The commands that harnesses run: `memory hooks run` prints the briefing or spools one line,
`memory send` spools any event.

A failure never stops a session: it is reported on stderr, and the exit code is 0. Only ids and
labels of a harness's payload are kept, no text of the session. Standard library only.
"""

import os
import sys
import time

from memory_assets.harnesses.hook_events import COMPACTING, END, NOTIFY, PROMPT, START
from memory_assets.stages.deliver import events, silence, spool
from memory_assets.store import ready
from memory_assets.store.places import find_data, present_root
from memory_assets.text.visible import visible

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

CLEARED = "clear"
"""Source of a start after which nothing of the earlier session may be shown."""

RESUMED = "resume"
"""Source of a start of a session that still has what it was told before."""

FORKED = "fork"
"""Source of a start of a session that has what another one was told, whose id is in the first line
of its transcript.
"""

COMPACTED = "compact"
"""Source of a start after a compaction."""

SENT_AT: "dict[str, str]" = {
    COMPACTING: events.COMPACTION_PENDING,
    END: events.ENDED,
    NOTIFY: events.TURN_COMPLETED,
}
HOOKS_OFF = "MEMORY_HOOKS_OFF"
"""Variable of a harness that is used as a model: its hooks do nothing, so that a question is
neither briefed nor reported.
"""

WAIT_SECONDS = 0.5
"""For a payload on stdin; a harness kills its end hook after one and a half seconds."""

MOST_PAYLOAD = 1_000_000
LONGEST_VALUE = 500
"""Characters of a text in an event: an id, a label, a reason."""

STARTS = (("session", "session_id"), ("source", "source"))
"""What a start and a prompt say: the name of the option, and of the payload's field."""

FIELDS = (
    ("sessionId", "thread-id"),
    ("sessionId", "session_id"),
    ("trigger", "trigger"),
    ("reason", "reason"),
)
"""The fields of events, and their names in a harness's payload."""


def run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> int:
    """Runs an installed hook; `brief` returns the briefing of a store for a session id, which may
    be empty.
    """
    if os.environ.get(HOOKS_OFF):
        return 0
    return _never_failing(_run, words, brief)


def send(words: "Sequence[str]") -> int:
    """Spools an event: `NAME [--session ID] [--data JSON] [--store FOLDER] [--json]`."""
    return _never_failing(_send, words)


def is_understood(words: "Sequence[str]") -> bool:
    """Returns whether `send` accepts these words; if not, the full command explains the error."""
    options = [word for word in words if word.startswith("--")]
    return (
        bool(words)
        and not words[0].startswith("-")
        and set(options) <= {"--session", "--data", "--store", "--json"}
    )


def spool_event(root: str, name: str, data: "Mapping[str, Any]") -> "tuple[str, str | None]":
    """Appends the event; returns its id and a warning where it will be put aside.

    Only the fields of a known event are kept. An unknown event is spooled unchanged; ingest puts it
    aside, where it is kept.
    """
    version = data.get("schemaVersion", events.SCHEMA_VERSION)
    if name not in events.FIELDS:
        id = spool.append(root, name, dict(data), version=version)
        names = ", ".join(events.FIELDS)
        return id, f"there is no event {name!r}, so it will be put aside; the events are {names}"
    fields = events.FIELDS[name]
    event = {field: _short(value) for field, value in data.items() if field in fields}
    id = spool.append(root, name, event, version=version)
    subject = events.subject_of(name)
    is_whole = subject is None or event.get(subject)
    return id, None if is_whole else f"{name} has no {subject}, so it will be put aside"


def payload_of(text: str) -> "dict[str, Any]":
    """Returns the text as a JSON object; an empty one where it is not."""
    import json

    try:
        payload = json.loads(text)
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


def _run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> None:
    (harness, event, *rest), options = _parse_words(words)
    payload = payload_of(rest[-1] if event == NOTIFY and rest else _stdin())
    root = options.get("store") or find_data()
    session, source = (options.get(name) or payload.get(field) for name, field in STARTS)
    if event == START:
        _start(harness, root, session, source, brief, payload)
    elif event == PROMPT:
        _recall(harness, root, session, payload)
    else:
        _spool_hook(harness, root, event, payload)


def _spool_hook(harness: str, root: str, event: str, payload: "Mapping[str, Any]") -> None:
    """Spools the event of a harness, with the fields that are kept of its payload."""
    data = {field: payload[name] for field, name in FIELDS if payload.get(name)}
    if "sessionId" in data and payload.get("agent_id"):
        data["sessionId"] = f"{data['sessionId']}/agent-{payload['agent_id']}"
    _, warning = spool_event(root, SENT_AT[event], {"harness": harness, **data})
    if warning:
        _warn(warning)


def _start(
    harness: str,
    root: str,
    session: "Any",
    source: "Any",
    brief: "Callable[[str, str], str]",
    payload: "Mapping[str, Any]",
) -> None:
    """Prints the briefing, but not a second time to a session that still has it, and never that of
    the bundled sample.
    """
    session = session if isinstance(session, str) else ""
    _forget(root, session, source)
    session_id = "" if source == CLEARED else session
    text = brief(root, session_id) if present_root(root) == root else ""
    is_told = bool(text and session_id) and _tell(root, session_id, source, text, payload)
    if not (is_told and source in (RESUMED, FORKED)):
        _print_context(harness, START, text)
    if session_id and source == COMPACTED and harness == "claude_code":
        # The transcript shows the compaction itself: see `MATCHERS` in `claude_code.hooks`.
        spool_event(root, events.TURN_COMPLETED, {"harness": harness, "sessionId": session_id})
    silence.ask_for_run(root)


def _forget(root: str, session: str, source: "Any") -> None:
    """Notes that a session that was compacted or cleared lost the memories that it was shown."""
    if session and source in (COMPACTED, CLEARED):
        from memory_assets.stages.deliver.told import forget_ids

        forget_ids(root, session)


def _tell(
    root: str, session_id: str, source: "Any", text: str, payload: "Mapping[str, Any]"
) -> bool:
    """Notes that the session has the briefing; returns whether it, or the session that it was
    forked from, had it already.
    """
    from memory_assets.stages.deliver.told import is_last_told, tell

    forked_from = _forked_from(payload.get("transcript_path")) if source == FORKED else ""
    was_told = bool(forked_from) and is_last_told(root, forked_from, text)
    return tell(root, session_id, text) or was_told


def _forked_from(path: "Any") -> str:
    """Returns the session that the first line of a transcript names as the one that it was forked
    from.
    """
    import re

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r'"forked_from_id":\s*"([\w-]+)"', file.readline(MOST_PAYLOAD))
    except (OSError, TypeError):
        return ""  # the session gets its briefing again
    return match[1] if match else ""


def _recall(harness: str, root: str, session: "Any", payload: "Mapping[str, Any]") -> None:
    """Prints the memories near the prompt, if a running server of tools answers in time; they count
    as recalled.
    """
    prompt = payload.get("prompt")
    if not isinstance(prompt, str) or not isinstance(session, str):
        return
    if present_root(root) != root or os.name != "posix":
        return
    from memory_assets.stages.deliver.prompts import SHOWN, near

    text, server = near(root, prompt, session, ready.here())
    if server is not None:
        _print_context(harness, PROMPT, text)
        server.sendall(SHOWN)
        server.close()


def _send(words: "Sequence[str]") -> None:
    data, warnings = sent(words)
    if "--json" in words:
        import json

        print(json.dumps({"v": 1, "ok": True, "data": data, "warnings": warnings}))
        return
    for warning in warnings:
        _warn(warning)


def sent(words: "Sequence[str]") -> "tuple[dict[str, str], list[str]]":
    """Spools the event of the command line; returns its id, name and store, and warnings."""
    (name,), options = _parse_words(words)
    text = options.get("data", "{}")
    text = _stdin() if text == "-" else text
    data = payload_of(text)
    warnings = list[str]()
    if not data and text.strip() not in ("{}", ""):
        warnings.append("the data of the event is not a JSON object, so it is sent without data")
    if "session" in options:
        data["sessionId"] = options["session"]
    root = options.get("store") or find_data()
    id, warning = spool_event(root, name, data)
    warnings += [warning] if warning else []
    return {"id": id, "name": name, "store": root}, warnings


def _parse_words(words: "Sequence[str]") -> "tuple[list[str], dict[str, str]]":
    """Returns the positional words, and the options with their values."""
    positional: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            options[word[2:]] = "" if word == "--json" else next(rest, "")
        else:
            positional.append(word)
    return positional, options


def _print_context(harness: str, event: str, text: str) -> None:
    """Prints a text in the form that the harness adds to the model's context."""
    if not text:
        return
    text = visible(text)
    if harness == "codex":
        import json

        context = {"hookEventName": event, "additionalContext": text}
        text = json.dumps({"hookSpecificOutput": context})
    sys.stdout.buffer.write(text.rstrip("\n").encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _stdin() -> str:
    """Returns the payload that the harness writes, waiting for it for half a second at most."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    descriptor, payload, until = sys.stdin.fileno(), b"", time.monotonic() + WAIT_SECONDS
    while len(payload) < MOST_PAYLOAD and _is_readable(descriptor, until - time.monotonic()):
        more = os.read(descriptor, 65_536)
        if not more:
            break
        payload += more
    return payload.decode("utf-8", "replace")


def _is_readable(descriptor: int, seconds: float) -> bool:
    if os.name != "posix":
        return True  # only sockets can be waited for there
    import select

    return bool(select.select([descriptor], [], [], max(0.0, seconds))[0])


def _short(value: "Any") -> "Any":
    return value[:LONGEST_VALUE] if isinstance(value, str) else value


def _never_failing(work: "Callable[..., None]", *arguments: "Any") -> int:
    os.umask(0o077)
    try:
        work(*arguments)
    except Exception as error:
        _warn(f"nothing was sent or shown: {error}")
        _drop(1)
    return 0


def _warn(text: str) -> None:
    try:
        print(f"memory: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # stderr is closed, or its disk is full
        _drop(2)


def _drop(descriptor: int) -> None:
    """Discards what is left in stdout (1) or stderr (2): the interpreter would fail on it at
    exit.
    """
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    except OSError:
        return
