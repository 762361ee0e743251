"""Reads what a git repository says about itself: its README and the languages of its files.

A shallow, bare copy is made in a temporary folder and read there; nothing of the repository is
checked out or run. Of a remote repository git connects to the address that was checked, and fetches
the names of files and the README only, where the server can leave the rest out.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from memory_assets.errors import FetchError

MOST_SECONDS = 120.0
MOST_BYTES = 100_000_000
"""Of the copy of a remote repository."""

LOOK_SECONDS = 0.2
MOST_README_BYTES = 1_000_000
SAFE = ("protocol.allow=never", "protocol.file.allow=always", "protocol.https.allow=always",
        "core.hooksPath=/dev/null",
        "http.followRedirects=false", "credential.helper=", "core.fsmonitor=false",
        "safe.bareRepository=all")  # fmt: skip
LANGUAGES = {
    ".py": "python", ".rs": "rust", ".go": "go", ".ts": "typescript", ".js": "javascript",
    ".java": "java", ".rb": "ruby",
    ".c": "c", ".cpp": "cpp", ".cs": "csharp", ".kt": "kotlin", ".swift": "swift", ".sh": "shell",
    ".ex": "elixir",
}  # fmt: skip
MOST_LANGUAGES = 3


@dataclass(frozen=True)
class Repository:
    """What was read of a repository."""

    name: str
    readme: str
    languages: tuple[str, ...]


def read_repository(source: str, address: str = "") -> Repository:
    """Returns what the repository says; `address` is the checked one of a remote repository's host.

    Raises `FetchError` where it cannot be copied within the limits.
    """
    local = Path(source).expanduser()
    place = local.resolve().as_uri() if local.is_dir() else source
    remote = () if local.is_dir() else (f"http.curloptResolve={_host_of(source)}:{address}",)
    with tempfile.TemporaryDirectory(prefix="memory-repository-") as folder:
        git = _Git(source, folder, remote)
        part = ["--filter=blob:none"] if remote else []
        how = "clone --quiet --bare --depth 1 --no-tags --single-branch".split()
        git.run(folder, *how, *part, "--", place, "copy")
        copy = str(Path(folder, "copy"))
        if not git.run(copy, "for-each-ref", "--count=1"):
            raise git.problem("it has no commits")
        files = git.run(copy, "ls-tree", "-r", "--name-only", "-z", "HEAD").split(b"\0")
        names = [file.decode("utf-8", "replace") for file in files]
        readme = _readme(git, copy, names)
    name = PurePosixPath(place.rstrip("/")).name.removesuffix(".git")
    return Repository(name, readme, _languages(names))


def _readme(git: "_Git", copy: str, names: Sequence[str]) -> str:
    readmes = (name for name in names if name.lower().startswith("readme"))
    name = min(readmes, key=len, default=None)
    if name is None:
        return ""
    if int(git.run(copy, "cat-file", "-s", f"HEAD:{name}")) > MOST_README_BYTES:
        raise git.problem(f"its {name} has more than {MOST_README_BYTES / 1e6:.0f} MB")
    return git.run(copy, "cat-file", "blob", f"HEAD:{name}").decode("utf-8", "replace")


def _languages(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the languages of most files."""
    languages = (LANGUAGES.get(PurePosixPath(name).suffix) for name in names)
    counts = Counter(filter(None, languages))
    return tuple(language for language, _ in counts.most_common(MOST_LANGUAGES))


@dataclass(frozen=True)
class _Git:
    """Runs git about one repository, with limits of time and, for a remote one, of size."""

    source: str
    folder: str
    remote: Sequence[str]
    """Settings for a remote repository; empty for a local one."""

    def run(self, folder: str, *words: str) -> bytes:
        """Returns what git prints; raises `FetchError` where it fails or exceeds a limit."""
        options = [word for setting in (*SAFE, *self.remote) for word in ("-c", setting)]
        inherited = {
            name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ
        }
        isolated = {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": self.folder,
        }
        try:
            git = subprocess.Popen(
                ["git", *options, *words],
                cwd=folder,
                env=inherited | isolated,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise self.problem(f"git cannot be run ({error.strerror or error})") from error
        out, errors = self._wait_for(git)
        if git.returncode:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            raise self.problem(lines[-1] if lines else "git failed")
        return out

    def problem(self, what: str) -> FetchError:
        """Returns the error that says what is wrong."""
        return FetchError(f"Cannot read the repository {self.source}: {what}.")

    def _wait_for(self, git: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
        """Returns what git printed; ends it and its helpers at a limit."""
        until = time.monotonic() + MOST_SECONDS
        while True:
            output = None
            with suppress(subprocess.TimeoutExpired):
                output = git.communicate(timeout=LOOK_SECONDS)
            exceeded = ""
            if self.remote and _size_of(self.folder) > MOST_BYTES:
                exceeded = f"it has more than {MOST_BYTES / 1e6:.0f} MB without its history"
            elif output is None and time.monotonic() > until:
                exceeded = f"it takes more than {MOST_SECONDS:.0f} seconds"
            if exceeded:
                _end(git)
                raise self.problem(exceeded)
            if output is not None:
                return output


def _host_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 443}"


def _size_of(folder: str) -> int:
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # a temporary file of git
                size += Path(place, name).lstat().st_size
    return size


def _end(git: "subprocess.Popen[bytes]") -> None:
    """Ends git with its helpers, if it still runs."""
    if git.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(git.pid, signal.SIGKILL)
        git.kill()
        git.communicate()
