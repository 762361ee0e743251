"""Writes the present store as a backup, or everything in it as files that other programs read."""

from pathlib import Path

from memory_assets.memory.agent import MemoryAgent
from memory_assets.services.transfer import backup, export
from memory_assets.services.transfer.backup import BackedUp
from memory_assets.services.transfer.export import Exported


def back_up(target: str) -> BackedUp:
    """Writes what cannot be rebuilt into one compressed file: the target, or a new file in it."""
    return backup.back_up(MemoryAgent().store, target)


def export_all(folder: Path) -> Exported:
    """Writes everything into a new folder."""
    return export.export_all(MemoryAgent().store, folder)
