"""The project of a working folder: the git repository that it is in, else what its path says.

`find_repository` reads the disk, for folders of this machine; intake stores what it finds, because
a worktree may be deleted later. `project_of` is a function of its arguments alone. The command's
start imports this module: standard library only.
"""

import os
import stat

UNKNOWN = "unknown"

LARGEST_CONFIG = 1_000_000
"""Bytes of a git configuration that are read."""

WORKTREES = frozenset({"worktrees", ".worktrees", "worktree", ".worktree", "wt", ".conductor"})
"""Folders that hold worktrees: of the repository that they are in, or of several, one folder for
each.
"""

WORKTREE_ENDINGS = ("-worktrees", ".worktrees", "_worktrees")
"""`shop-worktrees/vat` and `shop.worktrees/vat` are worktrees of `shop`."""

COLLECTIONS = frozenset(
    "code dev develop development documents desktop git github gitlab home projects project "
    "repos repositories root sites "
    "source sources src tmp users work works workspace workspaces wks".split()
)
"""Names of folders that hold repositories and are none themselves."""

NAME_AND_BRANCH = "--"
"""`shop--vat` is a worktree of `shop`."""


def find_repository(folder: str, home: str) -> str | None:
    """Returns the name of the git repository that the folder is in: of its remote `origin`, else of
    its main folder.

    A worktree and a sub-folder belong to their repository, also after they were deleted. The home
    folder and those above it are no projects; a repository there holds settings files.
    """
    home = f"{home}{os.sep}"
    while folder and os.path.dirname(folder) != folder and not home.startswith(f"{folder}{os.sep}"):
        common = _common_folder(folder, os.path.join(folder, ".git"))
        if common:
            return _remote_name(os.path.join(common, "config")) or _main_name(common, folder)
        folder = os.path.dirname(folder)
    return None


def project_of(repository: str | None, folder: str) -> str:
    """Returns the project's name: the repository's, else what the folder's path says."""
    if repository:
        return _last(repository) or UNKNOWN
    parts = _parts(folder)
    return _repository_of_worktree(parts) or _named(parts)


def _common_folder(folder: str, git: str) -> str | None:
    """Returns the folder that holds the repository's configuration; None if there is no repository
    at `git`.
    """
    if os.path.isfile(os.path.join(git, "HEAD")):
        return git
    text = _read(git)
    if not text.startswith("gitdir:"):
        return None
    path = os.path.normpath(os.path.join(folder, text.removeprefix("gitdir:").strip()))
    if f"{os.sep}worktrees{os.sep}" not in path:
        return path
    # The repository may have been moved or deleted since.
    common = _read(os.path.join(path, "commondir")).strip() or "../.."
    return os.path.normpath(os.path.join(path, common))


def _main_name(common: str, folder: str) -> str:
    """Returns the name of the main folder; a submodule is named by its own folder."""
    if f"{os.sep}modules{os.sep}" in common:
        return os.path.basename(folder)
    name = os.path.basename(common)
    if name.startswith("."):
        return os.path.basename(os.path.dirname(common))
    return name.removesuffix(".git")


def _remote_name(config: str) -> str | None:
    """Returns the name of the repository from which it was cloned, without its address, which may
    hold a password.
    """
    is_origin = False
    for line in _read(config).splitlines():
        setting, _, value = line.strip().partition("=")
        if setting.startswith("["):
            is_origin = setting == '[remote "origin"]'
        elif is_origin and setting.strip() == "url":
            return _last(value.strip().strip('"')) or None
    return None


def _read(path: str) -> str:
    """Returns the text of a regular file; empty if there is none that can be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return file.read(LARGEST_CONFIG).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part]


def _last(address: str) -> str:
    """Returns the last part of a path or address without `.git`."""
    parts = _parts(address.replace(":", "/"))
    return parts[-1].removesuffix(".git") if parts else ""


def _repository_of_worktree(parts: list[str]) -> str | None:
    """Returns the repository of a folder in a known layout of worktrees."""
    for place in range(len(parts) - 2, -1, -1):
        name = parts[place]
        ending = next((ending for ending in WORKTREE_ENDINGS if name.endswith(ending)), "")
        if ending and name not in WORKTREES and not name.startswith("."):
            return name.removesuffix(ending)
        if name in WORKTREES or ending:
            repository = _above(parts[:place]) or _below(parts[place + 1 :])
            if repository:
                return repository
    return None


def _above(parts: list[str]) -> str | None:
    """Returns the repository that has the folder of worktrees in it; None where that has those of
    several.
    """
    if parts and parts[-1].startswith(".") and not _is_home(parts[:-1]):
        parts = parts[:-1]  # `shop/.claude/worktrees/vat`
    if not parts or parts[-1].startswith(".") or _is_home(parts):
        return None
    return None if parts[-1].lower() in COLLECTIONS else parts[-1]


def _below(parts: list[str]) -> str | None:
    """Returns the repository that a path in a folder of worktrees of several names first."""
    if len(parts) < 2:
        return None
    return parts[1] if _is_id(parts[0]) else parts[0]


def _named(parts: list[str]) -> str:
    """Returns the last name of the path, or of the folder above one that is only numbered."""
    for place in range(len(parts) - 1, -1, -1):
        name = parts[place].partition(NAME_AND_BRANCH)[0] or parts[place]
        if any(letter.isalpha() for letter in name):
            is_last = place == len(parts) - 1
            is_project = name.lower() not in WORKTREES | COLLECTIONS
            return name if is_last or (is_project and not _is_home(parts[: place + 1])) else UNKNOWN
    return UNKNOWN


def _is_home(parts: list[str]) -> bool:
    """Returns whether the path is that of a home folder."""
    if parts and parts[0].endswith(":"):
        parts = parts[1:]
    return parts == ["root"] or (len(parts) == 2 and parts[0] in ("Users", "home"))


def _is_id(name: str) -> bool:
    return any(letter.isdigit() for letter in name) and all(
        letter in "0123456789abcdef-" for letter in name.lower()
    )
