"""What sessions were told at their last start: a checksum of the briefing in a small file for each session.

A session that is resumed still has its briefing; only a changed one is printed again. Standard library only.
"""

import os
import time
import zlib

from memory_assets.store.ready import file_name

FOLDER = os.path.join("built", "told")
LONGEST_NAME = 200
KEPT_SECONDS = 30 * 86_400
"""A session that is resumed later than this is told everything again."""


def tell(root: str, session: str, text: str) -> bool:
    """Notes that the session is told the text now; returns whether it was the last thing that it was told."""
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, file_name(session)[:LONGEST_NAME])
    now = f"{zlib.crc32(text.encode('utf-8', 'replace')):08x} {len(text)}"
    try:
        with open(path, encoding="ascii") as file:
            if file.read() == now:
                return True
    except (OSError, UnicodeDecodeError):
        pass  # it was told nothing yet
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(now)
    except OSError:
        pass  # it is told once more at the next start
    return False


def drop_old(root: str) -> None:
    """Deletes what sessions were told that nobody resumed for a month."""
    folder = os.path.join(root, FOLDER)
    try:
        found = [entry.path for entry in os.scandir(folder) if time.time() - entry.stat().st_mtime > KEPT_SECONDS]
    except FileNotFoundError:
        return
    for path in found:
        os.unlink(path)
