"""Commands with which a person installs missing packages into this Python environment, depending on
how memory_assets was installed.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def install_command(extra: str) -> str:
    """Returns the shell command that installs the extra; in a checkout with the versions that the
    tests use.
    """
    constraints = CHECKOUT / "constraints.txt"
    if constraints.is_file():
        return f'{pip_install()} -c "{constraints}" -e "{CHECKOUT}[{extra}]"'
    return f'{pip_install()} "memory_assets[{extra}]"'


def pip_install() -> str:
    """Returns the start of a command that installs into this environment; with `uv` if it has no
    pip, as environments made by uv.
    """
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
