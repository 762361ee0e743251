"""Checks what the rules files of a folder name, without a store."""

from pathlib import Path

from memory_assets.adapters.git_reading import reading
from memory_assets.errors import QuestionError
from memory_assets.stages.verify.rules_files import Checked, GoneName, check_folder

__all__ = ["Checked", "GoneName", "check"]


def check(folder: Path) -> Checked:
    """Returns what the rules files of the repository that the folder is in name, and what of it is
    gone.

    Raises `QuestionError` if there is no such folder.
    """
    if not folder.is_dir():
        raise QuestionError(f"There is no folder {folder}. Give the folder of a repository.")
    with reading(folder) as history:
        return check_folder(history.root if history else folder.resolve(), history)
