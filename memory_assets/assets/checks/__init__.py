"""Asset checks: those that every table has, and those of each stage. A new check goes beside its stage, and into `CHECKS`."""

import dagster as dg

from memory_assets.assets.checks import brief, capture, deliver, distill, embed, friction, quality, recall, reflect, triage
from memory_assets.assets.checks.common import in_one_step, no_secrets_check, schema_check
from memory_assets.schema.tables import table_names

STAGES = (deliver, capture, distill, quality, embed, recall, reflect, friction, triage, brief)


def make_checks() -> list[dg.AssetChecksDefinition]:
    """Returns the checks of every table and those of each stage; the checks of one asset run in one step."""
    of_tables = [make(table) for table in table_names() for make in (schema_check, no_secrets_check)]
    return in_one_step([*of_tables, *(check for stage in STAGES for check in stage.CHECKS)])
