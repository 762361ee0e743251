"""A person's own coding harness as a model: its command-line client answers one question at a time,
headless.

`claude_code_model` and `codex_model` define how each client is called and how its output is read;
this module runs it. The client starts in an empty folder, which is deleted afterwards. Only a few
clients run side by side for all processes of the store. A client is killed when this process ends
or the time is over. It uses the same login and network settings as when the person starts it, but
no key and no address of the environment: what was chosen is what reads.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from threading import Thread
from typing import IO, Any, ClassVar, NoReturn

import filelock

from memory_assets import errors
from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.text.patterns import patterns_beside, texts_beside

HOME_FOLDERS = ".local/bin .claude/local .npm-global/bin .bun/bin .volta/bin".split()
"""Folders in the home in which clients are installed; the search path of a service lacks them."""

POLL_SECONDS = 0.1
SLOT_TIMES = 5.0
"""Multiple of the timeout for which a question waits until another client has ended."""

SYSTEM_FOLDERS = ("/opt/homebrew/bin", "/usr/local/bin")

SESSION_VARIABLES = (
    *"CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID".split(),
)
"""Variables of a session in which `memory` runs. They are unset: the client would take itself for a
part of that session.
"""

READER_VARIABLES = (
    *"ANTHROPIC_ CLAUDE_CODE_USE_ CLAUDE_CODE_SKIP_ AWS_BEARER_TOKEN_BEDROCK".split(),
    *"CLOUD_ML_REGION VERTEX_REGION_ OPENAI_ AZURE_OPENAI_".split(),
)
"""Beginnings of variables with keys, addresses and models, which would make another account or
server read what is sent.
"""

_PATTERNS = patterns_beside(__file__)
_SENTENCES = texts_beside(__file__, "sentences")

FAILURES: dict[str, tuple[type[errors.ModelError], Sequence[int]]] = {
    "option": (errors.ModelSetupError, ()),
    "limit": (errors.ModelLimitError, ()),
    "no_login": (errors.ModelSetupError, (401, 403)),
    "no_credit": (errors.ModelSetupError, (402,)),
    "no_model": (errors.ModelSetupError, (404,)),
    "too_long": (errors.ModelRequestError, ()),
    "rejected": (errors.ModelRequestError, (400,)),
    "busy": (errors.ModelBusyError, (429, *range(500, 600))),
    "no_network": (errors.ModelBusyError, ()),
}
"""Failure → its error and its HTTP statuses, in order of precedence. A failure is recognised by its
status or by its pattern in the message.
"""


@dataclass(frozen=True)
class ClientOutput:
    """What a client printed, and its exit code, as `client_guard` returns it."""

    exit_code: int
    out: str
    err: str


class HarnessModel(ABC):
    """A model behind a harness's client; its name is the harness's, or `HARNESS:MODEL`."""

    title: ClassVar[str]
    program: ClassVar[str]
    log_in: ClassVar[str]
    """What a person does to log in; a sentence of an error."""
    silence: ClassVar[float] = 1.0
    """Multiple of the timeout for which the client may print nothing."""

    def __init__(
        self,
        name: str,
        lock: Path,
        *,
        timeout_seconds: float = 60.0,
        environ: Mapping[str, str] | None = None,
        at_once: int = 1,
        inherits_keys: bool = False,
    ) -> None:
        self.name = name
        self.model = name.partition(":")[2]
        """The harness's name of the model; empty for its default."""
        self._locks = [lock.with_suffix(f".{slot}.lock") for slot in range(at_once)]
        self._not_inherited = SESSION_VARIABLES + (() if inherits_keys else READER_VARIABLES)
        self._timeout_seconds = timeout_seconds
        self._environ = environ or {}

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer; raises `ModelSetupError`, `ModelBusyError` or `ModelRequestError`."""
        program = self._find()
        started = time.monotonic()
        scratch = tempfile.TemporaryDirectory(prefix="memory-model-", ignore_cleanup_errors=True)
        with self._slot(), scratch as name:
            folder = Path(name)
            command = [program, *self.arguments(request, folder)]
            output = self._run(command, self.environ(request), self.question(request), folder)
            if 128 < output.exit_code < 160:
                signal = output.exit_code - 128
                raise errors.ModelBusyError(
                    f"{self.title} was killed (signal {signal}); the next run asks again."
                )
            answer = self.parse(output, folder)
        return replace(answer, seconds=round(time.monotonic() - started, 3))

    @abstractmethod
    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        """Returns the arguments of the client; writes files that it reads into the folder."""

    def question(self, request: ModelRequest) -> str:
        """Returns what the client reads on its input."""
        return request.material

    def environ(self, request: ModelRequest) -> Mapping[str, str]:
        """Returns variables that the client needs for the request."""
        return {}

    @abstractmethod
    def parse(self, output: ClientOutput, folder: Path) -> ModelAnswer:
        """Returns the answer in the output; raises `ModelError` for a failure."""

    def failure(
        self, message: str, status: int | None = None, reset_at: datetime | None = None
    ) -> errors.ModelError:
        """Returns the error for a failure of the client, from its message and, where the client
        gives them, the HTTP status and the time at which a limit is reset.

        The error does not repeat the message, which may quote the question; only the time at which
        a limit ends is taken from it.
        """
        match = _PATTERNS["status"].search(message)
        if not status and match:
            status = int(match[1])
        note = f" (status {status})" if status else ""
        reset = _reset(message, reset_at)
        model = self.model or "default"
        about = {"client": self, "model": model, "status": status, "note": note, "reset": reset}
        for name, (error, statuses) in FAILURES.items():
            pattern = _PATTERNS.get(name)
            if status in statuses or (pattern and pattern.search(message)):
                return error(_SENTENCES[name].format(**about))
        return errors.ModelError(_SENTENCES["other"].format(**about))

    def has_no_batches(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ModelSetupError`: no harness answers batches."""
        raise errors.ModelSetupError(
            f"{self.title} answers no batches. Set MEMORY_MODEL_BATCHES=auto or never."
        )

    submit = batch = batches = results = has_no_batches

    def _find(self) -> str:
        program = find_program(self.program)
        if program:
            return program
        raise errors.ModelSetupError(
            f"{self.title} is not installed: there is no command `{self.program}`. Install it, or "
            "choose another model (`memory model`)."
        )

    def _slot(self) -> filelock.AcquireReturnProxy:
        """Holds one of the locks of the harness until the block ends; raises `ModelBusyError` if
        others hold all of them for too long.
        """
        until = time.monotonic() + SLOT_TIMES * self._timeout_seconds
        while time.monotonic() < until:
            for path in self._locks:
                with suppress(filelock.Timeout):
                    return filelock.FileLock(path, mode=0o600).acquire(timeout=0)
            time.sleep(POLL_SECONDS)
        raise errors.ModelBusyError(
            f"Another process is still asking {self.title}; the next run asks again."
        )

    def _run(
        self, command: list[str], variables: Mapping[str, str], question: str, folder: Path
    ) -> ClientOutput:
        """Runs the client in an empty folder with the question as its input. `client_guard` kills
        the client when this call or this process ends.
        """
        (folder / "question.txt").write_text(question, "utf-8")
        empty = folder / "empty"
        empty.mkdir()
        inherited = [name for name in os.environ if not name.startswith(self._not_inherited)]
        environ = {name: os.environ[name] for name in inherited} | {**self._environ, **variables}
        # A client written for Node may need the `node` in its own folder.
        places = (os.environ.get("PATH", ""), str(Path(command[0]).parent))
        environ["PATH"] = os.pathsep.join(filter(None, places))
        guard_end, our_end = os.pipe()
        try:
            with as_file(files("memory_assets.adapters").joinpath("client_guard.py")) as guard:
                guarded = [sys.executable, "-I", str(guard), str(folder), *command]
                process = subprocess.Popen(
                    guarded,
                    stdin=guard_end,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=empty,
                    env=environ,
                    start_new_session=os.name == "posix",
                )
            return self._wait_for(process)
        finally:
            os.close(guard_end)
            os.close(our_end)  # the guard then kills the client, if it still runs

    def _wait_for(self, process: "subprocess.Popen[bytes]") -> ClientOutput:
        """Returns the output; raises `ModelSilentError` once the client printed nothing for too
        long.
        """
        seconds = self.silence * self._timeout_seconds
        chunks: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
        pipes = {"out": process.stdout, "err": process.stderr}
        for name, pipe in pipes.items():
            Thread(target=_forward, args=(name, pipe, chunks), daemon=True).start()
        printed = dict.fromkeys(pipes, b"")
        while pipes:
            try:
                name, chunk = chunks.get(timeout=seconds)
            except queue.Empty:
                raise errors.ModelSilentError(
                    f"{self.title} did not answer within {seconds:g} s. Increase "
                    "MEMORY_MODEL_TIMEOUT_SECONDS to wait longer."
                ) from None
            printed[name] += chunk
            if not chunk:
                pipes.pop(name)
        code = process.wait()
        texts = {name: content.decode("utf-8", "replace") for name, content in printed.items()}
        return ClientOutput(128 - code if code < 0 else code, **texts)


def _forward(name: str, pipe: IO[bytes], chunks: "queue.SimpleQueue[tuple[str, bytes]]") -> None:
    """Puts what the pipe delivers into the queue, at its end an empty chunk."""
    with pipe:
        for chunk in iter(lambda: os.read(pipe.fileno(), 65_536), b""):
            chunks.put((name, chunk))
    chunks.put((name, b""))


def _reset(message: str, reset_at: datetime | None) -> str:
    """Returns the part of a sentence that says when the limit is reset: at the time given, else at
    the time in the message; empty if neither is known.
    """
    if reset_at:
        return f"; it is reset at {reset_at:%Y-%m-%d %H:%M} UTC"
    match = _PATTERNS["resets"].search(message)
    moment = match[1].strip(" .,") if match else ""
    return f"; it is reset at {moment}" if moment else ""


def find_program(name: str) -> str | None:
    """Returns the path of the client: on the search path, or in a folder of its installers."""
    home = os.path.expanduser("~")  # noqa: PTH111 (pathlib raises an error if it is unknown)
    folders = os.pathsep.join([*(f"{home}/{folder}" for folder in HOME_FOLDERS), *SYSTEM_FOLDERS])
    return shutil.which(name) or shutil.which(name, path=folders)


def parse_events(out: str) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects that a client printed, one on a line; other lines are skipped."""
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
