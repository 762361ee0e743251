"""The real clients of Claude Code, Codex and pi: installed from npm once into a cache folder, and driven over their protocols.

`HARNESS_CLIENTS` names a folder where `npm install --prefix` put them all; else they are kept in the user's cache folder.
"""

import fcntl
import json
import os
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from platformdirs import user_cache_dir

from memory_assets_tests.once import sampled

PACKAGES = {
    "claude": ("@anthropic-ai/claude-code@2.1.332",),
    "codex": ("@openai/codex@0.171.0",),
    "gemini": ("@google/gemini-cli@0.61.0",),
    "opencode": ("opencode-ai@1.18.33",),
    "pi": ("@earendil-works/pi-coding-agent@1.6.0", "node@22.23.3"),
    "pi-0.87": ("@earendil-works/pi-coding-agent@0.87.1", "node@22.23.3"),
    "qwen": ("@qwen-code/qwen-code@0.24.4", "node@22.23.3"),
    "copilot": ("@github/copilot@1.0.102",),
}
"""pi and Qwen Code need a newer Node than most machines have; others bring a program of their own. pi 0.87 has no client for
servers of tools.
"""

DRAWN = sampled(list(PACKAGES), 1)
"""The clients that a run drives: one, or all under `make test-all`."""

CACHE = Path(user_cache_dir("memory_assets_tests"), "clients")
"""As it is before a test sets a home of its own."""

INSTALL_SECONDS = 300
ANSWER_SECONDS = 60
"""After that, a client that does not answer is killed, and its test fails."""


def drawn(programs: Iterable[str]) -> list[str]:
    """Those of the clients that this run drives."""
    return [program for program in programs if program in DRAWN]


def client(program: str) -> Path:
    """The folder of the client's executable; the test is skipped where it cannot be installed."""
    given = os.environ.get("HARNESS_CLIENTS")
    name = program.partition("-")[0]
    if given and name != program:
        pytest.skip(f"HARNESS_CLIENTS has one {name}")
    found = (Path(given) if given else _installed(program)) / "node_modules" / ".bin"
    environ = {**os.environ, "PATH": f"{found}{os.pathsep}{os.environ['PATH']}"}
    if (
        not (found / name).exists()
        or subprocess.run([found / name, "--version"], capture_output=True, env=environ).returncode
    ):
        pytest.skip(f"{PACKAGES[program][0]} could not be installed, or needs a newer Node")
    return found


def _installed(program: str) -> Path:
    package, version = PACKAGES[program][0].rsplit("@", 1)
    folder = CACHE / f"{program}-{version}"
    if shutil.which("npm") is None and not folder.is_dir():
        pytest.skip(f"there is no npm to install {package} with")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{program}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            making = CACHE / f"{program}.making"
            shutil.rmtree(making, ignore_errors=True)
            how = [
                "npm",
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(making),
                *PACKAGES[program],
            ]
            done = subprocess.run(how, capture_output=True, timeout=INSTALL_SECONDS)
            if done.returncode == 0:
                making.rename(folder)
    return folder


class Driven(ABC):
    """A client that runs with pipes in place of a person: one JSON object per line in both directions."""

    session: str

    def __init__(self, words: list[str], environ: Mapping[str, str], cwd: Path) -> None:
        self._errors: list[str] = []
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=dict(environ), cwd=cwd
        )
        threading.Thread(target=self._read_errors, daemon=True).start()

    @abstractmethod
    def ask(self, prompt: str) -> None:
        """Sends a prompt, and returns when it is answered."""

    @abstractmethod
    def compact(self) -> None:
        """Has the client compact the session."""

    def end(self) -> None:
        """Ends the session as a person does who leaves."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(ANSWER_SECONDS)

    def _send(
        self, message: Mapping[str, Any], is_answer: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
        watch = threading.Timer(ANSWER_SECONDS, self.process.kill)
        watch.start()
        try:
            for line in stdout:
                if is_answer(found := json.loads(line)):
                    return found
        finally:
            watch.cancel()
        raise AssertionError(
            f"{self.process.args} ended without an answer to {message}: {''.join(self._errors)[-2000:]}"
        )

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)


class Claude(Driven):
    """Claude Code, headless, with one prompt after the other."""

    def __init__(
        self, environ: Mapping[str, str], cwd: Path, session: str, *, how: str = "new"
    ) -> None:
        words = [
            "claude",
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        ]
        options = {"new": ["--session-id", session], "resume": ["--resume", session]}
        super().__init__(
            [*words, *options.get(how, ["--resume", session, "--fork-session"])], environ, cwd
        )
        self.session = session

    def ask(self, prompt: str) -> None:
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self.session = self._send(message, lambda one: one["type"] == "result")["session_id"]

    def compact(self) -> None:
        self.ask("/compact")


class Codex(Driven):
    """Codex's app server, which its editor extensions talk to."""

    def __init__(
        self, environ: Mapping[str, str], cwd: Path, session: str, *, how: str = "new"
    ) -> None:
        super().__init__(["codex", "app-server"], environ, cwd)
        self._calls = 0
        self._call("initialize", {"clientInfo": {"name": "tests", "version": "1"}})
        given = {"cwd": str(cwd)} if how == "new" else {"threadId": session, "cwd": str(cwd)}
        found = self._call(
            {"new": "thread/start", "resume": "thread/resume"}.get(how, "thread/fork"), given
        )
        self.session = found["thread"]["id"]

    def ask(self, prompt: str) -> None:
        self._turn("turn/start", {"input": [{"type": "text", "text": prompt}]})

    def compact(self) -> None:
        self._turn("thread/compact/start", {})

    def trust(self) -> dict[str, str]:
        """Whether it trusts each hook, by event."""
        (found,) = self._call("hooks/list", {"cwds": ["/"]})["data"]
        return {hook["eventName"]: hook["trustStatus"] for hook in found["hooks"]}

    def _call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._calls += 1
        message = {"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params}
        return self._send(
            message, lambda one: one.get("id") == self._calls and "method" not in one
        )["result"]

    def _turn(self, method: str, params: Mapping[str, Any]) -> None:
        self._calls += 1
        message = {
            "jsonrpc": "2.0",
            "id": self._calls,
            "method": method,
            "params": {"threadId": self.session, **params},
        }
        self._send(message, lambda one: one.get("method") == "turn/completed")


class Pi(Driven):
    """pi in its mode for other programs."""

    def __init__(
        self, environ: Mapping[str, str], cwd: Path, session: str, *, how: str = "new"
    ) -> None:
        options = {"new": [], "resume": ["--session", session]}.get(how, ["--fork", session])
        super().__init__(
            ["pi", "--mode", "rpc", "--provider", "ours", "--model", "ours-1", *options],
            environ,
            cwd,
        )
        self.session = self._call("get_state")["data"]["sessionId"]

    def ask(self, prompt: str) -> None:
        self._send(
            {"type": "prompt", "message": prompt}, lambda one: one["type"] == "agent_settled"
        )

    def compact(self) -> None:
        assert self._call("compact")["success"]

    def _call(self, command: str) -> dict[str, Any]:
        return self._send({"id": command, "type": command}, lambda one: one.get("id") == command)


class Headless:
    """A client that answers one prompt and ends: a process for each."""

    words: tuple[str, ...]
    seconds = ANSWER_SECONDS

    def __init__(
        self, environ: Mapping[str, str], cwd: Path, session: str, *, how: str = "new"
    ) -> None:
        self.session = session
        self._environ, self._cwd = dict(environ), cwd
        self._option = "--session-id" if how == "new" else "--resume"

    def ask(self, prompt: str) -> None:
        """Asks the prompt, and returns when it is answered."""
        subprocess.run(
            [*self.words, f"{self._option}={self.session}", "-p", prompt],
            env=self._environ,
            cwd=self._cwd,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=self.seconds,
        )
        self._option = "--resume"


class Gemini(Headless):
    """Gemini CLI."""

    words = ("gemini", "-y", "-m", "gemini-2.5-flash")


class Qwen(Headless):
    """Qwen Code."""

    words = ("qwen", "--auth-type", "openai", "-y")


class Copilot(Headless):
    """Copilot CLI; after a compaction it waits a minute for itself."""

    words = ("copilot", "--allow-all-tools")
    seconds = 2 * ANSWER_SECONDS


class OpenCode:
    """OpenCode's server, which its terminal and its editor extensions talk to."""

    def __init__(
        self, environ: Mapping[str, str], cwd: Path, session: str = "", *, how: str = "new"
    ) -> None:
        self.process = subprocess.Popen(
            ["opencode", "serve", "--port", "0"],
            env={**environ, "PWD": str(cwd)},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        watch = threading.Timer(ANSWER_SECONDS, self.process.kill)
        watch.start()
        line = next(line for line in self.process.stdout if "listening on " in line)
        watch.cancel()
        self._url = line.rsplit(" ", 1)[1].strip()
        self.session = session if how == "resume" else self._post("/session", {})["id"]

    def ask(self, prompt: str) -> None:
        """Asks the prompt, and returns when it is answered."""
        parts = [{"type": "text", "text": prompt}]
        model = {"providerID": "ours", "modelID": "ours-1"}
        self._post(f"/session/{self.session}/message", {"model": model, "parts": parts})

    def compact(self) -> None:
        """Has the client compact the session."""
        model = {"providerID": "ours", "modelID": "ours-1"}
        self._post(f"/session/{self.session}/summarize", model)

    def fork(self) -> str:
        """Returns the id of a copy of the session."""
        return self._post(f"/session/{self.session}/fork", {})["id"]

    def end(self) -> None:
        """Ends the server."""
        self.process.terminate()
        self.process.wait(ANSWER_SECONDS)

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        headers = {"content-type": "application/json"}
        request = Request(self._url + path, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=ANSWER_SECONDS) as reply:
            return json.loads(reply.read() or b"null")


CLIENTS: dict[str, type[Claude] | type[Codex] | type[Pi]] = {
    "claude": Claude,
    "codex": Codex,
    "pi": Pi,
    "pi-0.87": Pi,
}


def hold_session(
    program: str,
    environ: Mapping[str, str],
    cwd: Path,
    *prompts: str,
    session: str = "",
    how: str = "new",
) -> str:
    """Asks the prompts in one session of the client; returns its id."""
    started = CLIENTS[program](environ, cwd, session or str(uuid4()), how=how)
    for prompt in prompts:
        started.ask(prompt)
    started.end()
    return started.session
