"""What runs inside a harness: `memory hooks run` hands out the briefing or spools one line, `memory send` spools any event.

Whatever is down, missing or full, a session goes on: what went wrong is said on stderr, and the exit code is 0. Of what a
harness hands over only ids and labels are kept, nothing that was said. Standard library only.
"""

import os
import sys
import time

from memory_assets.stages.deliver import events, spool
from memory_assets.store.places import find_data, present_root

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

START = "SessionStart"
CLEARED = "clear"
"""Source of a start for which somebody wanted everything gone that was said before."""

NOTIFY = "notify"
"""What Codex calls after each turn, with the payload as the last word instead of on stdin."""

SENT_AT: "dict[str, str]" = {
    "PreCompact": events.COMPACTION_PENDING,
    "SessionEnd": events.ENDED,
    NOTIFY: events.TURN_COMPLETED,
}
WAIT_SECONDS = 0.5
"""For a payload on stdin: a harness kills its end hook after a second and a half."""

MOST_PAYLOAD = 1_000_000
LONGEST_VALUE = 500
"""Characters of a text in an event: an id, a label, a reason."""

FIELDS = (("sessionId", "thread-id"), ("sessionId", "session_id"), ("trigger", "trigger"), ("reason", "reason"))
"""The fields of events, and where a harness's payload holds them."""


def run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> int:
    """Does what the installed hook is for; `brief` returns the briefing of a store for a session, by its id or none."""
    return _never_failing(_run, words, brief)


def send(words: "Sequence[str]") -> int:
    """Spools an event: `NAME [--session ID] [--data JSON] [--store FOLDER] [--json]`."""
    return _never_failing(_send, words)


def is_understood(words: "Sequence[str]") -> bool:
    """Returns whether `send` can be told these words; otherwise the full command says what is wrong with them."""
    options = [word for word in words if word.startswith("--")]
    return bool(words) and not words[0].startswith("-") and set(options) <= {"--session", "--data", "--store", "--json"}


def spool_event(root: str, name: str, data: "Mapping[str, Any]") -> "tuple[str, str | None]":
    """Appends the event; returns its id and what will be wrong with it, if anything.

    Of a known event only its own fields are kept. An unknown one is spooled as it is: taking it in puts it aside, and it
    can be read there.
    """
    version = data.get("schemaVersion", events.SCHEMA_VERSION)
    known = events.FIELDS.get(name)
    kept = dict(data) if known is None else {field: _short(value) for field, value in data.items() if field in known}
    id = spool.append(root, name, kept, version=version)
    if known is None:
        return id, f"there is no event {name!r}, so it will be put aside; the events are {', '.join(events.FIELDS)}"
    subject = events.subject_of(name)
    return id, None if subject is None or kept.get(subject) else f"{name} says no {subject}, so it will be put aside"


def payload_of(text: str) -> "dict[str, Any]":
    """Returns the JSON object that the text is; an empty one where it is none."""
    import json

    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> None:
    told, options = _read(words)
    harness, event, *rest = told
    payload = payload_of(rest[-1] if event == NOTIFY and rest else _stdin())
    root = options.get("store") or find_data()
    if event == START:
        session = options.get("session") or payload.get("session_id")
        is_told = isinstance(session, str) and payload.get("source") != CLEARED
        _hand_out(harness, brief(present_root(root), str(session) if is_told else ""))
        return
    said = {field: payload[name] for field, name in FIELDS if payload.get(name)}
    if "sessionId" in said and payload.get("agent_id"):
        said["sessionId"] = f"{said['sessionId']}/agent-{payload['agent_id']}"
    _, wrong = spool_event(root, SENT_AT[event], {"harness": harness, **said})
    if wrong:
        _whisper(wrong)


def _send(words: "Sequence[str]") -> None:
    data, warnings = sent(words)
    if "--json" in words:
        import json

        print(json.dumps({"v": 1, "ok": True, "data": data, "warnings": warnings}))
    for warning in warnings if "--json" not in words else ():
        _whisper(warning)


def sent(words: "Sequence[str]") -> "tuple[dict[str, str], list[str]]":
    """Spools the event that the words describe; returns its id, name and store, and what is wrong with it."""
    told, options = _read(words)
    (name,) = told
    text = options.get("data", "{}")
    if text == "-":
        text = _stdin()
    data, warnings = payload_of(text), []
    if not data and text.strip() not in ("{}", ""):
        warnings.append("the data of the event is no JSON object, so it is sent without")
    if "session" in options:
        data["sessionId"] = options["session"]
    root = options.get("store") or find_data()
    id, wrong = spool_event(root, name, data)
    return {"id": id, "name": name, "store": root}, [*warnings, *([wrong] if wrong else [])]


def _read(words: "Sequence[str]") -> "tuple[list[str], dict[str, str]]":
    """Returns the words that are no options, and the options with what follows them."""
    told: list[str] = []
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            told.append(word)
        else:
            options[word[2:]] = rest.pop(0) if rest and word != "--json" else ""
    return told, options


def _hand_out(harness: str, text: str) -> None:
    """Prints the briefing so that the harness puts it in front of the model."""
    if not text:
        return
    if harness == "codex":
        import json

        said = {"hookEventName": START, "additionalContext": text}
        text = json.dumps({"hookSpecificOutput": said})
    sys.stdout.buffer.write(text.rstrip("\n").encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _stdin() -> str:
    """Returns what the harness has written, and waits for no more than a moment for it."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    descriptor, found, until = sys.stdin.fileno(), b"", time.monotonic() + WAIT_SECONDS
    while len(found) < MOST_PAYLOAD and _is_readable(descriptor, until - time.monotonic()):
        more = os.read(descriptor, 65_536)
        if not more:
            break
        found += more
    return found.decode("utf-8", "replace")


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
        _whisper(f"nothing was sent or shown: {error}")
        _drop_output()
    return 0


def _whisper(text: str) -> None:
    try:
        print(f"memory: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return  # nobody listens


def _drop_output() -> None:
    """Sends what is left in stdout nowhere: the interpreter would fail over it when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        return
