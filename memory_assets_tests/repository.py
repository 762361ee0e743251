"""Makes small repositories with a history, for tests."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

DAY = "2026-05-02"


def git(folder: Path, *arguments: str, day: str = DAY) -> str:
    """Runs git in the folder at noon of that day, and returns what it prints."""
    person = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", "Mira"), ("EMAIL", "m@example.org"), ("DATE", f"{day}T12:00:00Z"))}  # fmt: skip
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=folder, check=True, env={**os.environ, **person}, capture_output=True, text=True).stdout  # fmt: skip


def commit(
    folder: Path, files: Mapping[str, str | None], day: str = DAY, text: str = "Work"
) -> str:
    """Commits the files with these contents, those without are removed, and returns the commit's id."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", text, day=day)
    return git(folder, "rev-parse", "HEAD").strip()
