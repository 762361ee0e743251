"""Where the data folder, the present store and the files of settings are; standard library only."""

from memory_assets.store.places import (
    data_settings_file,
    find_data,
    ignored_settings_file,
    present_root,
    user_settings_file,
)


def find_store() -> str:
    """Returns the folder of the present store: the owner's, or the sample's where only that
    exists.
    """
    return present_root(find_data())


def is_sample() -> bool:
    """Returns whether answers come from the bundled sample, because the owner has no store yet."""
    return find_store() != find_data()
