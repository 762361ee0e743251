"""Reads what a git repository says about itself: its README, the languages of its files, and its last commit.

A shallow, bare copy is made in a temporary folder and read there; nothing of the repository is checked out or run.
"""

import os
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memory_assets.errors import FetchError

MOST_SECONDS = 120.0
MOST_README_BYTES = 1_000_000
SAFE = ("protocol.allow=never", "protocol.file.allow=always", "protocol.https.allow=always", "core.hooksPath=/dev/null",
        "http.followRedirects=false", "credential.helper=", "core.fsmonitor=false", "safe.bareRepository=all")  # fmt: skip
LANGUAGES = {
    ".py": "python", ".rs": "rust", ".go": "go", ".ts": "typescript", ".js": "javascript", ".java": "java", ".rb": "ruby",
    ".c": "c", ".cpp": "cpp", ".cs": "csharp", ".kt": "kotlin", ".swift": "swift", ".sh": "shell", ".ex": "elixir",
}  # fmt: skip
MOST_LANGUAGES = 3


@dataclass(frozen=True)
class Repository:
    """What was read of a repository."""

    name: str
    readme: str
    languages: tuple[str, ...]
    commit: str


def read_repository(source: str) -> Repository:
    """Returns what the repository says; raises `FetchError` where it cannot be copied within the time."""
    local = Path(source).expanduser()
    address = local.resolve().as_uri() if local.is_dir() else source
    with tempfile.TemporaryDirectory(prefix="memory-repository-") as folder:
        _git(
            folder,
            "clone",
            "--quiet",
            "--bare",
            "--depth",
            "1",
            "--no-tags",
            "--single-branch",
            "--",
            address,
            "copy",
            of=source,
        )
        copy = str(Path(folder, "copy"))
        files = _git(copy, "ls-tree", "-r", "--name-only", "-z", "HEAD", of=source).decode("utf-8", "replace").split("\0")
        commit = _git(copy, "rev-parse", "HEAD", of=source).decode().strip()
        readme = next((one for one in sorted(files, key=len) if one.lower().startswith("readme")), "")
        text = _git(copy, "cat-file", "blob", f"HEAD:{readme}", of=source)[:MOST_README_BYTES] if readme else b""
    counted = Counter(LANGUAGES[PurePosixPath(one).suffix] for one in files if PurePosixPath(one).suffix in LANGUAGES)
    name = PurePosixPath(address.rstrip("/")).name.removesuffix(".git")
    languages = tuple(language for language, _ in counted.most_common(MOST_LANGUAGES))
    return Repository(name, text.decode("utf-8", "replace"), languages, commit)


def _git(folder: str, *words: str, of: str) -> bytes:
    options = [word for setting in SAFE for word in ("-c", setting)]
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environment = kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": folder,
    }
    try:
        done = subprocess.run(
            ["git", *options, *words], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise FetchError(f"Cannot read the repository {of}: it takes more than {MOST_SECONDS:.0f} seconds.") from None
    except OSError as error:
        raise FetchError(f"Cannot read the repository {of}: git cannot be run ({error.strerror or error}).") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FetchError(f"Cannot read the repository {of}: {said[-1] if said else 'git failed'}.")
    return done.stdout
