"""Shows the settings with their origins, and changes them in the owner's file."""

from memory_assets.services.settings.configuration import (
    ChangedSetting,
    Setting,
    read_configuration,
    set_setting,
    unset_setting,
)
from memory_assets.store.settings import harness_of
