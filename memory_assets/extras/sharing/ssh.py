"""Reaches another machine of the same person over ssh (`own_machines` says what is exchanged).

The system's `ssh` runs `memory data serve-push --stdio` there, with the person's own configuration,
keys, agent and jump hosts; nothing listens on a port. Both sides first send a line with `MAGIC`,
then what they are. After that, each line is a request, `[path, body]`, or an answer to one.
"""

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Annotated, Any
from urllib.parse import unquote

import orjson
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memory_assets.errors import (
    MemoryAssetsError,
    PushError,
    QuestionError,
    SettingsError,
    StoreError,
    UnreachableError,
)
from memory_assets.extras.sharing.own_machines import OwnPusher, answer
from memory_assets.extras.sharing.proposal_ids import place_of
from memory_assets.extras.sharing.push import Pushed
from memory_assets.extras.sharing.remote_memory import Connection, Response
from memory_assets.extras.sharing.settings import SharingSettings, sharing
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import OTHER_KEYS, Store, open_store
from memory_assets.text.files import append_line
from memory_assets.text.visible import visible

MAGIC = b"memory serve-push "
PROTOCOL = 1
LONGEST_LINE = 128 * 1024 * 1024
"""Bytes of a request or an answer; one with the largest piece has fewer."""

MOST_NOISE = 1_000
"""Lines before `MAGIC` that are skipped: a shell may print a greeting."""

END_SECONDS = 10.0
"""Time that the other side has to end once the connection is closed."""

AGAIN = "What arrived is safe: the same command goes on where it stopped."
REMEDIES = {
    "host key": "ssh does not know its host key, or knows another one. Compare it with that of the "
    "machine, then connect once with `ssh`.",
    "permission denied": "It does not let you in: try `ssh` first.",
    "not found": "A shell without a terminal often has a shorter PATH. Ask for the place there "
    "(`command -v memory`), then `memory config set push_command /home/me/.local/bin/memory`.",
    "no such command": "Its release cannot do this. Upgrade memory_assets there.",
}
"""Words in what ssh or the other side says → what to do."""

NOT_UNDERSTOOD = (ValueError, TypeError, KeyError, RecursionError)
"""Errors while a request of another release, or of nobody's, is read."""

_ADDRESS = re.compile(r"(ssh://(?:[\w.+-]+@)?[\w.\[][\w.:\]-]*)(?:/(.*))?")
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Wire(Connection):
    """Sends and receives lines; as a `Connection`, it sends the requests of a push."""

    def __init__(self, url: str, source: IO[bytes], target: IO[bytes]) -> None:
        self.url = url
        self._source = source
        self._target = target

    def send(self, path: str, body: bytes | None = None) -> Response:
        """Returns the answer to the request."""
        self.write(b'["%s",%s]' % (path.encode(), body or b"null"))
        return Response(200, None, self.read())

    def envelope_of(self, response: Response) -> dict[str, Any]:
        """Returns the JSON of the answer; raises the error of the other side, with its name."""
        try:
            return super().envelope_of(response)
        except MemoryAssetsError as error:
            raise type(error)(f"{self.url}: {error}") from None

    def write(self, line: bytes) -> None:
        """Sends one line."""
        self._target.write(line + b"\n")
        self._target.flush()

    def read(self) -> bytes:
        """Returns the next line. Raises `EOFError` where the other side ends, also within a line,
        `PushError` for a line that is longer than any that is sent.
        """
        line = self._source.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise PushError(f"A line has more than {LONGEST_LINE:,} bytes.")
        if not line.endswith(b"\n"):
            raise EOFError
        return line

    def answer_requests(self, store: Store, *, is_pulled: bool = False) -> bytes:
        """Answers requests until a line is none, and returns that line.

        With `is_pulled`, the other side may only send, not fetch.
        """
        line = self.read()
        while line.startswith(b"["):
            try:
                path, body = orjson.loads(line)
                if path == "pull" and not is_pulled:
                    data = OwnPusher(store, self.url, "").send(self)
                else:
                    data = answer(store, path, body)
            except NOT_UNDERSTOOD as error:
                text = visible(str(error)[:200])
                raise PushError(f"A request cannot be understood: {text}.") from error
            self.write(orjson.dumps({"ok": True, "data": data}))
            line = self.read()
        return line


class _Hello(BaseModel):
    """What a store says of itself to another machine of the same person."""

    protocol: int
    host: Annotated[str, Field(max_length=255)] = ""
    owner: str = ""
    timezone: str = ""
    keys: Annotated[list[Key], Field(min_length=1, max_length=50)]
    """Its key, then those of the machines that it knows; each forgotten word is looked for with
    each.
    """

    @classmethod
    def of(cls, store: Store) -> "_Hello":
        """Returns what this store says."""
        keys = [key.decode() for key in store.keys]
        about = {"owner": store.settings.owner, "timezone": store.settings.timezone}
        return cls(protocol=PROTOCOL, host=socket.gethostname(), **about, keys=keys)


def exchange(store: Store, url: str, *, is_pull: bool = False) -> Pushed:
    """Sends what the other machine lacks, or with `is_pull` fetches what this one lacks.

    What was taken in survives an interruption.
    """
    pusher = OwnPusher(store, url, "")
    with _connected(pusher.url, store.settings) as wire:
        theirs = _read_hello(wire)
        wire.write(MAGIC + orjson.dumps(vars(_Hello.of(store))))
        _join(store, theirs)
        if not is_pull:
            return pusher.send(wire)
        wire.write(b'["pull",null]')
        response = Response(200, None, wire.answer_requests(store, is_pulled=True))
        data = wire.envelope_of(response)["data"]
        return TypeAdapter(Pushed).validate_python({**data, "url": pusher.url})


def check_fits(settings: Settings, url: str) -> None:
    """Raises `PushError` if a new store with these settings would not fit that of the other
    machine: it would get days that it cannot change any more.
    """
    with _connected(url.rstrip("/"), settings) as wire:
        _compare(settings, _read_hello(wire))


def serve_folder(folder: Path | None, source: IO[bytes], target: IO[bytes]) -> int:
    """Answers another machine of the same person about the store in the folder, by default that of
    the settings; returns the exit code.
    """
    wire = Wire("", source, target)
    wire.write(MAGIC)
    try:
        store = _open(folder)
        wire.write(orjson.dumps({"ok": True, "data": vars(_Hello.of(store))}))
        line = wire.read()
        if not line.startswith(MAGIC):
            raise PushError("Only `memory data push ssh://…` and `pull` talk with this.")
        theirs = _Hello.model_validate_json(line.removeprefix(MAGIC))
        wire.url = f"machine {visible(theirs.host)}"
        _join(store, theirs)
        wire.answer_requests(store)
        return 0
    except EOFError:
        return 0
    except MemoryAssetsError as error:
        fault = error
    except OSError as error:
        fault = StoreError(f"{error.strerror} ({error.filename}). Free space there. {AGAIN}")
    except NOT_UNDERSTOOD as error:
        fault = PushError(f"A request cannot be understood: {str(error)[:200]}.")
    described = {"type": type(fault).__name__, "message": str(fault)}
    with suppress(OSError):  # the other side is gone
        wire.write(orjson.dumps({"ok": False, "error": described}))
    return 1


def _open(folder: Path | None) -> Store:
    settings = read_settings(data=folder.expanduser()) if folder else read_settings()
    if not (settings.data / "VERSION").is_file():
        raise StoreError(
            f"There is no store in {settings.data}. Run `memory up` there once, or name the data "
            "folder: ssh://host/home/me/memory."
        )
    return open_store(settings)


def _read_hello(wire: Wire) -> _Hello:
    """Returns what the other side is; skips what a shell prints first."""
    lines = (wire.read() for _ in range(MOST_NOISE))
    if MAGIC.strip() not in map(bytes.strip, lines):
        raise PushError(f"{wire.url} does not answer as `memory data serve-push` does.")
    data = wire.envelope_of(Response(200, None, wire.read()))["data"]
    try:
        return _Hello.model_validate(data)
    except ValidationError:
        raise PushError(f"{wire.url} does not say what it is. Upgrade the older release.") from None


def _join(store: Store, theirs: _Hello) -> None:
    """Notes the keys of the other machine, with which hashes in its ledger are made.

    Raises `PushError` if the two stores do not fit together.
    """
    if store.shared is not None:
        raise PushError("The store is in a bucket: set `store` on the other machine, too.")
    ours = _Hello.of(store)
    _compare(store.settings, theirs)
    _check_places(ours, theirs)
    with store.lock():
        for key in theirs.keys:
            if key not in ours.keys:
                append_line(store.root / "resources" / OTHER_KEYS, key.encode())


def _compare(settings: Settings, theirs: _Hello) -> None:
    """Raises `PushError` if a store with the settings does not fit the other one."""
    ours = {"protocol": PROTOCOL, "owner": settings.owner, "timezone": settings.timezone}
    for name, here in ours.items():
        there = getattr(theirs, name)
        if here != there:
            remedy = "upgrade the older" if name == "protocol" else f"set MEMORY_{name.upper()}"
            raise PushError(
                f"The {name} of the stores differs: {here!r} on {socket.gethostname()}, {there!r} "
                f"on {theirs.host}. Machines of one person have the same: {remedy}."
            )


def _check_places(ours: _Hello, theirs: _Hello) -> None:
    """Raises `PushError` if proposals of two stores would have the same ids."""
    if theirs.keys[0] == ours.keys[0]:
        raise PushError(
            f"The stores on {ours.host} and {theirs.host} are copies of one. Nothing was changed. "
            "On one of them, begin with `memory data pull` into an empty data folder."
        )
    places: dict[int, str] = {}
    for key in (*ours.keys, *theirs.keys):
        if places.setdefault(place_of(key), key) != key:
            raise PushError(
                f"The stores of {ours.host} and {theirs.host}, or of a machine that they know, "
                "have the same place, so that their proposals cannot be told apart. Nothing was "
                "changed. On one of them, begin with `memory data pull` into an empty data folder."
            )


@contextmanager
def _connected(url: str, settings: Settings) -> Iterator[Wire]:
    """Yields the connection to the other machine; where it breaks, an error says what to do."""
    command = _command(url, sharing(settings))
    host = command[-2]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise UnreachableError(
            f"Cannot run `{command[0]}`: {error.strerror}. Install OpenSSH's client."
        ) from None
    assert process.stdin and process.stdout and process.stderr
    messages: list[str] = []
    reader = Thread(target=_pass_on, args=(process.stderr, messages), daemon=True)
    reader.start()
    try:
        yield Wire(host, process.stdout, process.stdin)
    except (EOFError, BrokenPipeError):
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        reader.join(END_SECONDS)
        raise UnreachableError(f"{host}: {_cause(messages)}") from None
    finally:
        with suppress(OSError, subprocess.TimeoutExpired):
            process.stdin.close()
            process.wait(END_SECONDS)
        process.kill()
        process.wait()


def _command(url: str, settings: SharingSettings) -> list[str]:
    """Returns the command that runs the other side; its last two words are the machine, and the
    command there.
    """
    address = _ADDRESS.fullmatch(url)
    if address is None:
        raise QuestionError(
            f"{url[:80]!r} is no address of a machine; use the form ssh://me@desktop, or "
            "ssh://desktop/home/me/memory"
        )
    folder = unquote(address[2] or "")
    remote = f"{settings.push_command} data serve-push --stdio"
    if folder:
        remote += " " + shlex.quote(folder if folder.startswith("~") else f"/{folder}")
    try:
        client = shlex.split(settings.push_ssh)
    except ValueError as error:
        raise SettingsError(
            f"The setting `push_ssh` is no command: {error} in {settings.push_ssh!r}. Close the "
            "quotation."
        ) from None
    options = ("-T", "-o", "ServerAliveInterval=15", "--")
    return [*client, *options, address[1], remote]


def _cause(messages: Sequence[str]) -> str:
    """Returns the last messages, and what to do about them."""
    text = " ".join(messages[-3:]) or "It ended without a word"
    remedies = [remedy for words, remedy in REMEDIES.items() if words in text.lower()]
    return f"{text.rstrip('.')}. {remedies[0] if remedies else AGAIN}"


def _pass_on(source: IO[bytes], messages: list[str]) -> None:
    """Prints what ssh and the other side say, such as for whom they wait, and notes it."""
    for line in source:
        messages.append(visible(line.decode("utf-8", "replace").strip()))
        print(messages[-1], file=sys.stderr)
