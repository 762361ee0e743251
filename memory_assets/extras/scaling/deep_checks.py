"""The check of `memory doctor --deep` that reads the objects of a store in S3."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from memory_assets.errors import ObjectStoreError
from memory_assets.extras.scaling.shared_store import SharedStore
from memory_assets.stages.maintain.checks import Check, is_in_share, outcome
from memory_assets.store.store import Store

REMEDY = (
    "Run this on a machine whose data folder has the files, which sends them again, or restore "
    "them from a backup."
)


def check_objects(store: Store, night: date | None) -> Iterator[Check]:
    """Yields whether every object of a store in S3 is as it was sent; deletes objects that the
    manifest does not name.
    """
    if not isinstance(store.shared, SharedStore):
        return
    mirror = store.shared.mirror
    promise = "every object of the store in S3 is as it was sent"
    try:
        store.sync()
        damaged, count = mirror.faults(lambda path: is_in_share(path, night))
        swept = mirror.sweep(datetime.now(UTC))
    except ObjectStoreError as error:
        remedy = "The copy in the data folder is used meanwhile."
        yield Check("objects", promise, False, str(error), remedy)
        return
    deleted = f"; {swept:,} that nothing used were deleted" if swept else ""
    yield outcome("objects", promise, damaged, f"{count:,} objects{deleted}", REMEDY)
