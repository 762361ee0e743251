"""Removes everything that this program added to the machine."""

from pathlib import Path

from memory_assets.memory import hook_settings
from memory_assets.services.forget.uninstalled import Uninstalled, uninstall_extras
from memory_assets.services.forget.whole_store import erase
from memory_assets.store.places import find_data, user_settings_file
from memory_assets.store.settings import read_settings


def uninstall(*, is_erasing: bool, is_dry: bool) -> Uninstalled:
    """Removes the hooks of all harnesses and what optional capabilities added.

    With `is_erasing`, also deletes the store. With `is_dry`, only returns what would be removed.
    """
    data = Path(find_data())
    planned = hook_settings.plan_uninstall()
    changes = planned if is_dry else hook_settings.carry_out(planned)
    of_extras = uninstall_extras(data, is_dry=is_dry)
    erased = erase(read_settings()) if is_erasing and not is_dry else None
    settings = Path(user_settings_file()).parent
    return Uninstalled(is_dry, changes, of_extras, erased, data, settings)
