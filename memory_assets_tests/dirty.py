"""Whether a file of the workspace was edited since it was last committed."""

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.text.files import bytes_of


def is_dirty(workspace: GitWorkspace, path: str) -> bool:
    """Returns whether the file on disk differs from the one last committed."""
    return bytes_of(workspace.root / path) != workspace.at_head(path)
