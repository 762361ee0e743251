"""The notebook of the memory: the owner's copy in the store, and what Jupyter needs to open it."""

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
    """Returns the notebook that comes with the program: in the checkout, else in the installed
    package.
    """
    beside = Path(CHECKOUT, FOLDER, NAME)
    if beside.is_file():
        return beside
    return Path(str(files("memory_assets").joinpath("_notebooks", NAME)))


def own_copy(root: Path) -> Path:
    """Returns the owner's notebook in the store, which is a copy of the bundled one if there is
    none yet.
    """
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
