"""The row types of all tables, in pipeline order; the file to read first.

`tables.TABLES` maps each table to its record. The schemas in `frames.py`, the Dagster UI and
`docs/tables.md` are generated from the field descriptions. Times are UTC; a `day` is the local day,
in the owner's zone, of the latest event of a window.
"""

# ruff: noqa: F403 (every record is exported from here; each name is defined in one module only)

from memory_assets.schema.records.base import *
from memory_assets.schema.records.capture import *
from memory_assets.schema.records.deliver import *
from memory_assets.schema.records.distill import *
from memory_assets.schema.records.embed import *
from memory_assets.schema.records.maintain import *
from memory_assets.schema.records.quality import *
from memory_assets.schema.records.recall import *
from memory_assets.schema.records.reflect import *
from memory_assets.schema.records.triage import *
from memory_assets.schema.records.verify import *
