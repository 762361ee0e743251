"""Input version of the table `evaluation`."""

from memory_assets.extras.lab.labels import hash_of_labels
from memory_assets.runs.inputs import fingerprint
from memory_assets.schema.declarations import WHOLE, Table
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import version_of
from memory_assets.store.store import Store


def evaluation(store: Store, table: Table) -> dict[str, str]:
    """The windows, the observations and the labels; nothing where no labelled sessions are
    named.
    """
    observed = store.tables.parts("observations")
    if store.settings.gold is None or not observed:
        return {}
    parts = (f"{day}={info.fingerprint}" for day, info in observed.items())
    windows = fingerprint(store.tables.parts("windows"), WHOLE)
    versions = (table.version, version_of("observations"))
    return {WHOLE: hash_of(*versions, hash_of_labels(store.settings.gold), windows, *parts)}


INPUTS = {"evaluation": evaluation}
