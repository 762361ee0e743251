"""The asset checks, with one module for each stage.

To add a check, decorate a function in the module of its stage with `common.check`.
"""

from collections.abc import Sequence
from functools import cache

import dagster as dg

from memory_assets.assets.checks import (  # noqa: F401
    brief_checks,
    capture_checks,
    deliver_checks,
    distill_checks,
    embed_checks,
    friction_checks,
    maintain_checks,
    quality_checks,
    recall_checks,
    reflect_checks,
    triage_checks,
)
from memory_assets.assets.checks.common import (
    REGISTERED,
    no_secrets_check,
    one_step_per_asset,
    schema_check,
)
from memory_assets.schema.extras import extras
from memory_assets.schema.tables import table_names


@cache
def make_checks() -> Sequence[dg.AssetChecksDefinition]:
    """Returns all checks, with one step for all checks of an asset."""
    for extra in extras():
        if extra.checks:
            extra.load(extra.checks)  # importing it registers them
    of_tables = [
        make(table) for table in table_names() for make in (schema_check, no_secrets_check)
    ]
    return tuple(one_step_per_asset([*of_tables, *REGISTERED]))
