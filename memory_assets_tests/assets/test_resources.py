"""The store resource opens the store of the settings, or the one in another folder."""

from pathlib import Path

import dagster as dg

from memory_assets.assets.resources import StoreResource
from memory_assets.store.settings import read_settings


def opened(**how: str) -> Path:
    return StoreResource(**how).create_resource(dg.build_init_resource_context()).root


def test_the_store_of_the_settings_is_opened_and_made_where_there_is_none():
    assert opened() == read_settings().data
    assert (read_settings().data / "VERSION").is_file()


def test_another_folder_can_be_named(tmp_path: Path):
    other = tmp_path / "other"
    assert opened(data=str(other)) == other
    assert (other / "VERSION").is_file() and not (read_settings().data / "VERSION").exists()
