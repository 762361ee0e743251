"""The lock file has every version that the tests passed with, each with hashes, and no address."""

import re
from pathlib import Path

from memory_assets_tests.lock import HEADER, blocks, render_lock

ROOT = Path(__file__).resolve().parent.parent
PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)")


def pinned(text: str) -> dict[str, str]:
    """Versions by normalised name."""
    found = (PINNED.match(line) for line in text.splitlines())
    return {re.sub(r"[-_.]+", "-", one[1]).lower(): one[2] for one in found if one}


def test_versions_are_those_of_the_constraints_and_every_package_has_a_hash():
    lock, wanted = (ROOT / "requirements.lock").read_text(), pinned((ROOT / "constraints.txt").read_text())
    locked = pinned(lock)
    assert len(locked) > 150
    assert {name: version for name, version in locked.items() if name in wanted and wanted[name] != version} == {}
    assert [block.split()[0] for block in blocks(lock.removeprefix(HEADER)) if "--hash=sha256:" not in block] == []
    assert "://" not in lock


def test_what_only_cuda_builds_of_torch_need_is_left_out():
    resolved = "numpy==2.5.1 \\\n    --hash=sha256:a\nnvidia-cublas==13.1 ; sys_platform == 'linux' \\\n    --hash=sha256:b\ntriton==3 \\\n    --hash=sha256:c\n"
    assert render_lock(resolved) == HEADER + "numpy==2.5.1 \\\n    --hash=sha256:a\n"
