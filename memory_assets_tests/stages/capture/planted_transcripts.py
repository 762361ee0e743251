"""Writes transcripts of all three harnesses with secrets in any place where a session may hold text.

Forms of secrets come from `vendor_formats`; how a secret is wrapped, among what words it stands and in which field of which
record are drawn from a `random.Random`. `read_everything` is the reader who must not get them back: it takes every wrapping
off again, as a patient person would. Nothing is shared with the detector.
"""

import base64
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape, unescape
from random import Random
from urllib.parse import quote, quote_plus, unquote_plus

from memory_assets_tests.stages.capture.vendor_formats import BARE_FORMS, draw_form

Wrap = Callable[[str, Random], str]


@dataclass(frozen=True)
class Planted:
    """A line of a transcript, the secret in it, and in what form, wrapping and place."""

    line: bytes
    secret: str
    form: str
    wrapping: str
    place: str


def _coloured(text: str, random: Random) -> str:
    """Returns the text as a terminal shows it: a colour begins somewhere inside, one ends behind it."""
    place = random.randrange(len(text) + 1)
    return f"{text[:place]}\x1b[{random.choice(['1;31', '0;32', '38;5;208'])}m{text[place:]}\x1b[0m"


def _highlighted(text: str, random: Random) -> str:
    """Returns the text as `grep --color` marks a match, between two colours."""
    start = random.randrange(len(text))
    end = random.randrange(start, len(text)) + 1
    return f"{text[:start]}\x1b[01;31m\x1b[K{text[start:end]}\x1b[m\x1b[K{text[end:]}"


def _in_json(depth: int) -> Wrap:
    """Returns the wrapping of a string in a JSON document, `depth` times, sometimes indented."""

    def wrap(text: str, random: Random) -> str:
        for _ in range(depth):
            text = json.dumps(
                {"status": 200, "body": text, "ok": True}, indent=random.choice([None, 2])
            )
        return text

    return wrap


def _each_line(prefix: Callable[[int], str]) -> Wrap:
    """Returns the wrapping that puts something before every line."""
    return lambda text, _: "\n".join(
        prefix(number) + line for number, line in enumerate(text.split("\n"), 1)
    )


def _base64(text: str, random: Random) -> str:
    """Returns a small file in base64, on one line or in lines of 76 as `base64` prints them."""
    content = (
        "".join(f"LEVEL_{n}=info\n" for n in range(random.randrange(6))) + text + "\nDEBUG=0\n"
    )
    encoded = base64.b64encode(content.encode()).decode()
    return encoded if random.random() < 0.5 else "\n".join(textwrap.wrap(encoded, 76))


WRAPPINGS: dict[str, Wrap] = {
    "bare": lambda text, _: text,
    "in words": lambda text, r: r.choice(
        ["I found this:\n\n{}\n\nPlease use it.", "ok\n{}", "$ cat file\n{}\n$"]
    ).format(text),
    "fence": lambda text, _: f"Here:\n```bash\n{text}\n```\ndone",
    "json": _in_json(1),
    "json in json": _in_json(2),
    "json in json in json": _in_json(3),
    "heredoc": lambda text, _: f"cat > .env <<'EOF'\nNODE_ENV=test\n{text}\nEOF\necho done",
    "colour": _coloured,
    "highlight": _highlighted,
    "diff": _each_line(lambda _: "+"),
    "removed": _each_line(lambda _: "-"),
    "numbered": _each_line(lambda number: f"{number:6d}\t"),
    "arrowed": _each_line(lambda number: f"{number:5d}→"),
    "quoted": _each_line(lambda _: "> "),
    "grep": _each_line(lambda number: f"config/app.env:{number}:"),
    "log": _each_line(lambda number: f"2026-04-08T09:1{number % 10}:00Z app-1 | "),
    "indented": _each_line(lambda _: "      "),
    "base64": _base64,
    "data url": lambda text, r: (
        f"data:text/plain;base64,{base64.b64encode(text.encode()).decode()}"
    ),
    "percent": lambda text, _: quote(text, safe=""),
    "query": lambda text, r: (
        f"https://app.acme.dev/cb?n={r.randrange(99)}&state={quote_plus(text)}&ok=1"
    ),
    "html": lambda text, _: f"<pre>{escape(text)}</pre>",
    "utf-16": lambda text, _: "\x00".join(text) + "\x00",
    "windows lines": lambda text, _: text.replace("\n", "\r\n") + "\r\n",
}


def _dumped(record: object, random: Random) -> bytes:
    """Returns the record as one line, as the harnesses' own languages write JSON, sometimes with needless escapes."""
    compact = (",", ":") if random.random() < 0.7 else None
    line = json.dumps(record, separators=compact, ensure_ascii=random.random() < 0.3)
    return (line.replace("/", "\\/") if random.random() < 0.1 else line).encode() + b"\n"


def _claude(role: str, content: object, **more: object) -> dict[str, object]:
    uuid = "0b5e2f9a-4c1d-4e1b-9a55-0c9f3d9f6c11"
    common = {
        "sessionId": uuid,
        "cwd": "/home/ann/shop",
        "version": "2.1.0",
        "timestamp": "2026-04-08T09:10:00.000Z",
    }
    return {
        "type": role,
        **common,
        "uuid": uuid,
        "message": {"role": role, "content": content},
        **more,
    }


def _codex(kind: str, payload: dict[str, object]) -> dict[str, object]:
    return {"timestamp": "2026-04-08T09:10:00.000Z", "type": kind, "payload": payload}


def _pi(role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content, "timestamp": 1775639400000, **more}
    return {
        "type": "message",
        "id": "a1b2c3d4",
        "parentId": None,
        "timestamp": "2026-04-08T09:10:00.000Z",
        "message": message,
    }


def _tool(name: str, **given: object) -> list[object]:
    return [
        {"type": "tool_use", "id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "name": name, "input": given}
    ]


def _result(content: object) -> list[object]:
    return [
        {"type": "tool_result", "tool_use_id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "content": content}
    ]


def _text(text: str, kind: str = "text") -> list[object]:
    return [{"type": kind, "text": text}]


def _call(arguments: dict[str, object]) -> dict[str, object]:
    return {
        "type": "function_call",
        "name": "shell",
        "arguments": json.dumps(arguments),
        "call_id": "call_AbCdEf0123456789",
    }


def _output(text: str) -> dict[str, object]:
    answer = json.dumps({"output": text, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    return {"type": "function_call_output", "call_id": "call_AbCdEf0123456789", "output": answer}


PLACES: dict[str, Callable[[str], dict[str, object]]] = {
    "claude user": lambda t: _claude("user", t),
    "claude user blocks": lambda t: _claude("user", _text(t)),
    "claude answer": lambda t: _claude("assistant", _text(t)),
    "claude thinking": lambda t: _claude(
        "assistant", [{"type": "thinking", "thinking": t, "signature": "EqQBCkYIBxgC"}]
    ),
    "claude command": lambda t: _claude(
        "assistant", _tool("Bash", command=t, description="run it")
    ),
    "claude write": lambda t: _claude(
        "assistant", _tool("Write", file_path="/home/ann/shop/.env", content=t)
    ),
    "claude edit": lambda t: _claude(
        "assistant", _tool("Edit", file_path="/a.py", old_string=t, new_string="x")
    ),
    "claude result": lambda t: _claude(
        "user", _result(t), toolUseResult={"stdout": "", "stderr": t, "interrupted": False}
    ),
    "claude result blocks": lambda t: _claude("user", _result(_text(t))),
    "claude read": lambda t: _claude(
        "user", _result("ok"), toolUseResult={"file": {"filePath": "/a", "content": t}}
    ),
    "claude patch": lambda t: _claude(
        "user", _result("ok"), toolUseResult={"structuredPatch": [{"lines": t.split("\n")}]}
    ),
    "claude summary": lambda t: {
        "type": "summary",
        "summary": t,
        "leafUuid": "0b5e2f9a-4c1d-4e1b-9a55-0c9f3d9f6c11",
    },
    "claude compaction": lambda t: _claude(
        "user", f"This session continues.\n{t}", isCompactSummary=True
    ),
    "claude queue": lambda t: {"type": "queue-operation", "operation": "enqueue", "content": t},
    "codex user": lambda t: _codex(
        "response_item", {"type": "message", "role": "user", "content": _text(t, "input_text")}
    ),
    "codex answer": lambda t: _codex("event_msg", {"type": "agent_message", "message": t}),
    "codex reasoning": lambda t: _codex(
        "response_item", {"type": "reasoning", "summary": _text(t, "summary_text")}
    ),
    "codex call": lambda t: _codex(
        "response_item", _call({"command": ["bash", "-lc", t], "workdir": "/home/ann/shop"})
    ),
    "codex output": lambda t: _codex("response_item", _output(t)),
    "codex patch": lambda t: _codex(
        "response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": t}
    ),
    "codex exec": lambda t: _codex(
        "event_msg", {"type": "exec_command_end", "stdout": t, "aggregated_output": t}
    ),
    "codex compaction": lambda t: _codex("compacted", {"message": t, "replacement_history": []}),
    "codex instructions": lambda t: _codex("session_meta", {"id": "0b5e2f9a", "instructions": t}),
    "pi user": lambda t: _pi("user", _text(t)),
    "pi answer": lambda t: _pi(
        "assistant", [*_text(t), {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}]
    ),
    "pi thinking": lambda t: _pi("assistant", [{"type": "thinking", "thinking": t}]),
    "pi call": lambda t: _pi(
        "assistant", [{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": t}}]
    ),
    "pi result": lambda t: _pi(
        "toolResult", _text(t), toolCallId="c1", toolName="bash", isError=False
    ),
    "pi bash": lambda t: _pi("bashExecution", "", command="env", output=t, exitCode=0),
    "pi compaction": lambda t: {
        "type": "compaction",
        "id": "b1",
        "summary": t,
        "firstKeptEntryId": "a1",
        "tokensBefore": 9,
    },
}

_NEUTRAL = [
    "{}",
    "use {} for now",
    "it printed {} and went on",
    "`{}`",
    "value: {}",
    "X={}",
    "({})",
    '"{}",',
    "see {}.",
]


def plant(form: str, wrapping: str, place: str, random: Random) -> Planted:
    """Returns a line of a transcript with a secret of the form, so wrapped, in the place."""
    text, secret = draw_form(form, random)
    if form in BARE_FORMS:
        text = random.choice(_NEUTRAL).format(text)
    line = _dumped(PLACES[place](WRAPPINGS[wrapping](text, random)), random)
    return Planted(line, secret, form, wrapping, place)


def read_everything(line: bytes) -> str:
    """Returns all that can be read out of a line: every string in it under all of its wrappings."""
    return "\n".join(
        dict.fromkeys(reading for text in _strings(json.loads(line)) for reading in _readings(text))
    )


_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BEFORE_LINE = re.compile(
    r"(?m)^(?:config/app\.env:\d+:|2026-\S+ app-1 \| |\s*\d+[\t→]|> |[+-](?!-)|\s+)"
)


def _readings(text: str) -> Iterator[str]:
    """Yields a text as it is, cleaned, unquoted and decoded, with its lines as they are and joined."""
    plain = _BEFORE_LINE.sub("", _COLOUR.sub("", text).replace("\x00", "").replace("\r", ""))
    for each in dict.fromkeys((text, plain, unquote_plus(plain), unescape(plain))):
        yield each
        yield each.replace("\n", "")
    for run in re.findall(r"[A-Za-z0-9+/=*\n]{24,}", plain):
        letters = run.replace("\n", "").translate(str.maketrans("*=", "AA"))
        yield base64.b64decode(letters[: len(letters) // 4 * 4]).decode("latin-1").replace("\n", "")
    for inner in _documents(plain):
        yield from (reading for each in _strings(inner) for reading in _readings(each))


def _documents(text: str) -> Iterator[object]:
    """Yields the JSON documents that stand in a text."""
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        try:
            inner, end = decoder.raw_decode(text, start)
            yield inner
        except json.JSONDecodeError:
            end = start + 1
        start = text.find("{", end)


def _strings(value: object) -> Iterator[str]:
    """Yields every string of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def is_readable(secret: str, line: bytes) -> bool:
    """Says whether the middle or the end of the secret can be read out of the line."""
    letters = secret.replace("\\n", "").replace("\n", "")
    middle = len(letters) // 2
    text = read_everything(line).replace("\\n", "")
    return letters[-8:] in text or letters[middle - 4 : middle + 4] in text
