"""The notebook about the memory: the owner's copy of it, and what Jupyter needs to open it."""

from importlib.resources import files
from pathlib import Path

from memory_assets.adapters.optional_packages import install_command
from memory_assets.memory.agent import MemoryAgent
from memory_assets.services.settings.which_store import environment_of
from memory_assets.store.places import CHECKOUT
from memory_assets.text.files import write_atomically

FOLDER = "notebooks"
NAME = "memory.ipynb"


def bundled() -> Path:
    """Returns the notebook that comes with the program, in its checkout or in its package."""
    in_checkout = Path(CHECKOUT, FOLDER, NAME)
    if in_checkout.is_file():
        return in_checkout
    return Path(str(files("memory_assets").joinpath("_notebooks", NAME)))


def own_copy(root: Path) -> Path:
    """Returns the owner's notebook in the store; makes it from the bundled one if it is missing."""
    path = root / FOLDER / NAME
    if not path.is_file():
        write_atomically(path, bundled().read_bytes())
    return path


def environment() -> dict[str, str]:
    """Returns the environment variables with which Jupyter opens the present store."""
    return environment_of(MemoryAgent().settings)


def how_to_install() -> str:
    """Returns the command that installs Jupyter."""
    return install_command("notebook")
