"""Finds the project of a working folder: the git repository that it is in, else a name from its
path.

`find_repository` reads the disk, for folders of this machine; intake stores the name, because a
worktree may be deleted later. `project_of` reads nothing: its result depends only on its arguments.
Commands that must start fast import this module: standard library only.
"""

import os
import stat

UNKNOWN = "unknown"

LARGEST_CONFIG = 1_000_000
"""Bytes of a git configuration that are read at most."""

WORKTREES = frozenset({"worktrees", ".worktrees", "worktree", ".worktree", "wt", ".conductor"})
"""Names of folders that hold worktrees: of the repository around the folder, or of several
repositories, with a folder for each.
"""

WORKTREE_ENDINGS = ("-worktrees", ".worktrees", "_worktrees")
"""Endings of folders with worktrees: `shop-worktrees/vat` is a worktree of `shop`."""

COLLECTIONS = frozenset(
    "code dev develop development documents desktop git github gitlab home projects project "
    "repos repositories root sites "
    "source sources src tmp users work works workspace workspaces wks".split()
)
"""Names of folders that contain repositories, but are not repositories themselves."""

NAME_AND_BRANCH = "--"
"""Separator of repository and branch: `shop--vat` is a worktree of `shop`."""


def find_repository(folder: str, home: str) -> str | None:
    """Returns the name of the git repository that the folder is in: from its remote `origin`, else
    from its main folder; None if it is in none.

    A sub-folder that was deleted still belongs to the repository around it. The home folder and the
    folders above it are no projects: a repository there holds settings files.
    """
    inside, common = find_git(folder, home)
    if not common:
        return None
    return _remote_name(os.path.join(common, "config")) or _main_name(common, inside)


def find_git(folder: str, home: str) -> tuple[str, str]:
    """Returns the folder with `.git` that the folder is in, and the repository's git folder; both
    are empty if it is in none.
    """
    home = f"{home}{os.sep}"
    while folder and os.path.dirname(folder) != folder and not home.startswith(f"{folder}{os.sep}"):
        common = _common_folder(folder, os.path.join(folder, ".git"))
        if common:
            return folder, common
        folder = os.path.dirname(folder)
    return "", ""


def find_worktree(folder: str, home: str) -> tuple[str, str]:
    """Returns the main worktree of the repository that the folder is in, and its git folder; both
    are empty if it has none.
    """
    inside, common = find_git(folder, home)
    if os.path.basename(common) == ".git":
        return os.path.dirname(common), common
    return (inside, common) if f"{os.sep}modules{os.sep}" in common else ("", "")


def read_head(git: str) -> str:
    """Returns the commit of HEAD; empty if its files do not tell."""
    kind, _, name = _read(os.path.join(git, "HEAD")).strip().partition("ref: ")
    commit = kind or _read(os.path.join(git, name)).strip()
    packed = () if commit else _read(os.path.join(git, "packed-refs")).splitlines()
    return commit or next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")


def project_of(repository: str | None, folder: str) -> str:
    """Returns the project's name: the repository's, else a name from the folder's path."""
    if repository:
        return _last(repository) or UNKNOWN
    parts = _parts(folder)
    return _repository_of_worktree(parts) or _named(parts)


def _common_folder(folder: str, git: str) -> str | None:
    """Returns the folder with the configuration of the repository at `git`, the `.git` of `folder`;
    None if there is no repository.
    """
    if os.path.isfile(os.path.join(git, "HEAD")):
        return git
    text = _read(git)
    if not text.startswith("gitdir:"):
        return None
    path = os.path.normpath(os.path.join(folder, text.removeprefix("gitdir:").strip()))
    if f"{os.sep}worktrees{os.sep}" not in path:
        return path
    # Without the file `commondir` (the repository was moved or deleted), its usual content.
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
    """Returns the name of the repository at the remote `origin`, without the rest of its address,
    which may contain a password; None if there is no such remote.
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
    """Returns the repository of a folder in a known layout of worktrees; None for other folders."""
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
    """Returns the repository at this path, whose folder of worktrees it holds; None if the path
    cannot be a repository: then the folder has worktrees of several.
    """
    if parts and parts[-1].startswith(".") and not _is_home(parts[:-1]):
        parts = parts[:-1]  # `shop/.claude/worktrees/vat`
    if not parts or parts[-1].startswith(".") or _is_home(parts):
        return None
    return None if parts[-1].lower() in COLLECTIONS else parts[-1]


def _below(parts: list[str]) -> str | None:
    """Returns the repository that the path names first, below a folder with worktrees of several;
    an id before it is skipped.
    """
    if len(parts) < 2:
        return None
    return parts[1] if _is_id(parts[0]) else parts[0]


def _named(parts: list[str]) -> str:
    """Returns the last part of the path that contains letters; `unknown` if numbered folders follow
    it and it cannot be a project.
    """
    for place in range(len(parts) - 1, -1, -1):
        name = parts[place].partition(NAME_AND_BRANCH)[0] or parts[place]
        if any(letter.isalpha() for letter in name):
            is_last = place == len(parts) - 1
            is_container = name.lower() in WORKTREES | COLLECTIONS or _is_home(parts[: place + 1])
            return name if is_last or not is_container else UNKNOWN
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
