"""Commands with which a person installs missing packages into this Python environment, depending on
how memory_assets was installed.
"""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
NAME = "memory_assets"
TOOL_RECORDS = {"uv-receipt.toml": "uv tool install", "pipx_metadata.json": "pipx install"}
"""The file in an environment that a tool made for one program → how the tool installs again."""

_EXTRAS = re.compile(r'"memory[-_]assets", extras = \[([^]]*)]|memory_assets\[([^]]*)]')
"""The extras in such a file."""


def install_command(extra: str) -> str:
    """Returns the shell command that installs the extra; in a checkout with the versions that the
    tests use.
    """
    constraints = CHECKOUT / "constraints.txt"
    if constraints.is_file():
        return f'{pip_install()} -c "{constraints}" -e "{CHECKOUT}[{extra}]"'
    for name, install in TOOL_RECORDS.items():
        record = Path(sys.prefix, name)
        if record.is_file():
            present = _EXTRAS.search(record.read_text("utf-8"))
            extras = re.findall(r"\w+", " ".join(filter(None, present.groups()))) if present else []
            return f'{install} --force "{_requirement([*extras, extra])}"'
    if Path(sys.prefix).parent.name.startswith("archive-"):  # of `uvx`, made again for each set
        return f'uvx --from "{_requirement([extra])}" memory'
    return f'{pip_install()} "{_requirement([extra])}"'


def pip_install() -> str:
    """Returns the start of a command that installs into this environment; with `uv` if it has no
    pip, as environments made by uv.
    """
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"


def _requirement(extras: list[str]) -> str:
    """Returns the requirement with these extras, from where the package was installed."""
    requirement = f"{NAME}[{','.join(sorted(set(extras)))}]"
    source = _source()
    return f"{requirement} @ {source}" if source else requirement


def _source() -> str:
    """Returns the address of the installed wheel, folder or repository; "" for a registry."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    if not text:
        return ""
    origin = json.loads(text)
    version_control = origin.get("vcs_info")
    return f"{version_control['vcs']}+{origin['url']}" if version_control else origin["url"]
