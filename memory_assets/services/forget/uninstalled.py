"""What `memory uninstall` removed."""

from dataclasses import dataclass
from pathlib import Path

from memory_assets.services.forget.whole_store import Erased
from memory_assets.services.login_service import ServiceState
from memory_assets.stages.deliver.install import HookChange


@dataclass(frozen=True)
class Uninstalled:
    """What was removed, and what stays."""

    is_dry_run: bool
    hooks: list[HookChange]
    service: ServiceState | None
    erased: Erased | None
    data: Path
    settings: Path
