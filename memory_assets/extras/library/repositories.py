"""Reads the README of a git repository and the languages of its files.

Git makes a shallow, bare copy in a temporary folder, and the copy is read; nothing of the
repository is checked out or run. For a remote repository git connects to the IP address that was
checked. It fetches the names of files and the README only, if the server supports that.
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
"""Largest copy of a remote repository."""

POLL_SECONDS = 0.2
"""Time between two looks at the size of the copy and at the clock."""

MOST_README_BYTES = 1_000_000
SAFE = ("protocol.allow=never", "protocol.file.allow=always", "protocol.https.allow=always",
        "core.hooksPath=/dev/null",
        "http.followRedirects=false", "credential.helper=", "core.fsmonitor=false",
        "safe.bareRepository=all")  # fmt: skip
"""Settings of git: no other protocols, no programs that a repository names, no redirects."""

LANGUAGES = {
    ".py": "python", ".rs": "rust", ".go": "go", ".ts": "typescript", ".js": "javascript",
    ".java": "java", ".rb": "ruby",
    ".c": "c", ".cpp": "cpp", ".cs": "csharp", ".kt": "kotlin", ".swift": "swift", ".sh": "shell",
    ".ex": "elixir",
}  # fmt: skip
MOST_LANGUAGES = 3
"""Languages of a repository that become tags: those with most files."""


@dataclass(frozen=True)
class Repository:
    """Name, README and main languages of a repository."""

    name: str
    readme: str
    languages: tuple[str, ...]


def read_repository(source: str, address: str = "") -> Repository:
    """Returns the repository in the folder or at the URL.

    `address` is the checked IP address of the URL's host. Raises `FetchError` where the repository
    cannot be copied within the limits.
    """
    local = Path(source).expanduser()
    clone = "clone --quiet --bare --depth 1 --no-tags --single-branch".split()
    if local.is_dir():
        place = local.resolve().as_uri()
        settings = ()
    else:
        place = source
        settings = (f"http.curloptResolve={_host_of(source)}:{address}",)
        clone.append("--filter=blob:none")
    with tempfile.TemporaryDirectory(prefix="memory-repository-") as folder:
        git = _Git(source, folder, settings)
        git.run(folder, *clone, "--", place, "copy")
        copy = str(Path(folder, "copy"))
        if not git.run(copy, "for-each-ref", "--count=1"):
            raise git.problem("it has no commits")
        files = git.run(copy, "ls-tree", "-r", "--name-only", "-z", "HEAD").split(b"\0")
        names = [file.decode("utf-8", "replace") for file in files]
        readme = _readme(git, copy, names)
    name = PurePosixPath(place.rstrip("/")).name.removesuffix(".git")
    return Repository(name, readme, _languages(names))


def _readme(git: "_Git", copy: str, names: Sequence[str]) -> str:
    """Returns the text of the README with the shortest name; empty without one."""
    readmes = (name for name in names if name.lower().startswith("readme"))
    name = min(readmes, key=len, default=None)
    if name is None:
        return ""
    if int(git.run(copy, "cat-file", "-s", f"HEAD:{name}")) > MOST_README_BYTES:
        raise git.problem(f"its {name} has more than {MOST_README_BYTES / 1e6:.0f} MB")
    return git.run(copy, "cat-file", "blob", f"HEAD:{name}").decode("utf-8", "replace")


def _languages(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the languages with the most files."""
    languages = (LANGUAGES.get(PurePosixPath(name).suffix) for name in names)
    counts = Counter(filter(None, languages))
    return tuple(language for language, _ in counts.most_common(MOST_LANGUAGES))


@dataclass(frozen=True)
class _Git:
    """Runs git for one repository, within a time and, for a remote one, a size."""

    source: str
    """The repository as errors name it."""
    folder: str
    """The temporary folder, whose size is limited."""
    remote_settings: Sequence[str]
    """Settings of git for a remote repository; empty for a local one."""

    def run(self, folder: str, *words: str) -> bytes:
        """Returns what git prints; raises `FetchError` where it fails or exceeds a limit."""
        settings = (*SAFE, *self.remote_settings)
        options = [word for setting in settings for word in ("-c", setting)]
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
        output, errors = self._wait_for(git)
        if git.returncode:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            raise self.problem(lines[-1] if lines else "git failed")
        return output

    def problem(self, reason: str) -> FetchError:
        """Returns the error that the repository cannot be read, with the reason."""
        return FetchError(f"Cannot read the repository {self.source}: {reason}.")

    def _wait_for(self, git: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
        """Returns the output and the errors of git; ends it and its child processes at a limit."""
        until = time.monotonic() + MOST_SECONDS
        while True:
            output = None
            with suppress(subprocess.TimeoutExpired):
                output = git.communicate(timeout=POLL_SECONDS)
            exceeded = ""
            if self.remote_settings and _size_of(self.folder) > MOST_BYTES:
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
            with suppress(OSError):  # git may have deleted a temporary file meanwhile
                size += Path(place, name).lstat().st_size
    return size


def _end(git: "subprocess.Popen[bytes]") -> None:
    """Ends git and its child processes, if it still runs."""
    if git.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(git.pid, signal.SIGKILL)
        git.kill()
        git.communicate()
