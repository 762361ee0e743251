"""The asset checks, with one module for each stage.

To add a check, decorate a function in the module of its stage with `common.check`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import dagster as dg

from memory_assets.assets.checks import common
from memory_assets.runs.liveness import OWN_CHECKS
from memory_assets.schema.extras import extras
from memory_assets.schema.tables import table_names

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")  # it registers its checks


@cache
def make_checks() -> Sequence[dg.AssetChecksDefinition]:
    """Returns all checks, with one step for all checks of an asset."""
    for extra in extras():
        if extra.checks:
            extra.load(extra.checks)  # importing it registers them
    of_tables = [
        make(table)
        for table in table_names()
        for make in (common.schema_check, common.no_secrets_check)
    ]
    checks = [*of_tables, *common.REGISTERED]
    OWN_CHECKS.update(check.spec.key for check in checks)
    return tuple(common.one_step_per_asset(checks))
