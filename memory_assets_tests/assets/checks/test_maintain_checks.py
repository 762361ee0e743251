"""Checks of the nightly run: within a month each stored byte is read once, and what is damaged is red that night."""

from datetime import timedelta

from memory_assets.assets.checks.maintain_checks import the_share_of_the_night_is_whole
from memory_assets.stages.maintain.checks import NIGHTS
from memory_assets.store.store import Store
from memory_assets_tests.small_store import small_store


def red_nights(store: Store) -> list[list[dict[str, str]]]:
    """What the check finds in each of the nights of a month where it finds something."""
    moments = (store.settings.clock() + timedelta(days=night) for night in range(NIGHTS))
    nights = (
        Store(store.settings.model_copy(update={"now": moment}), store.root) for moment in moments
    )
    found = (the_share_of_the_night_is_whole(night, None).to_dicts() for night in nights)
    return [rows for rows in found if rows]


def test_a_flipped_byte_of_the_archive_is_red_in_one_night_of_the_month_and_no_place_is_told():
    store = small_store()
    (path,) = (store.root / "resources").rglob("*.zst")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    assert red_nights(store) == [[{"part": "archive", "found": "1 not"}]]
