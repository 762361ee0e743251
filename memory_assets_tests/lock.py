"""Writes a lock file: reads what `uv pip compile` resolved, and leaves out what only torch's CUDA builds need.

What the lock files given as arguments contain is left out, too.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADER = "# Every package with the hashes of its files, for `pip install --require-hashes`; written by `make lock`.\n"
OF_CUDA = re.compile(r"(?:nvidia|cuda|triton)\b")


def blocks(text: str) -> Iterator[str]:
    """Yields each requirement with its hashes."""
    return (match[0] for match in re.finditer(r"^\S.*\n(?:[ \t].*\n)*", text, re.M))


def render_lock(resolved: str, *others: str) -> str:
    """Returns the lock file of the resolved requirements that are not in the other lock files."""
    locked = {block for other in others for block in blocks(other)}
    return HEADER + "".join(
        block for block in blocks(resolved) if block not in locked and not OF_CUDA.match(block)
    )


if __name__ == "__main__":
    sys.stdout.write(
        render_lock(sys.stdin.read(), *(Path(name).read_text("utf-8") for name in sys.argv[1:]))
    )
