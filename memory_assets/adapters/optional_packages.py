"""Commands that install missing packages into the environment that runs, for the way that
memory_assets was installed.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def install_command(extra: str) -> str:
    """Returns the command for a shell; in a checkout it takes the versions that the tests passed
    with.
    """
    constraints = CHECKOUT / "constraints.txt"
    if constraints.is_file():
        return f'{pip_install()} -c "{constraints}" -e "{CHECKOUT}[{extra}]"'
    return f'{pip_install()} "memory_assets[{extra}]"'


def pip_install() -> str:
    """Returns the start of a command that installs into the environment that runs; those that uv
    made have no pip.
    """
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
