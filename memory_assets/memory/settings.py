"""Shows the settings with their origins, and changes them in the owner's file."""

from memory_assets.services.settings.change_setting import (
    ChangedSetting,
    set_setting,
    unset_setting,
)
from memory_assets.services.settings.configuration import Setting, read_configuration
from memory_assets.store.settings import harness_of
