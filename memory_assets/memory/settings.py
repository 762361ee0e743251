"""The settings: shown with their origins, changed in the owner's file, and Dagster's configuration
of a deployment.
"""

from memory_assets.runs.deployment import DagsterConfiguration, Deployment, configure
from memory_assets.services.settings.change_setting import (
    ChangedSetting,
    set_setting,
    unset_setting,
)
from memory_assets.services.settings.configuration import Setting, read_configuration
from memory_assets.services.settings.which_store import present_settings


def configure_dagster(deployment: Deployment, *, write: bool = False) -> DagsterConfiguration:
    """Returns the `dagster.yaml` of the deployment; with `write`, it replaces the present one."""
    return configure(present_settings(), deployment, write=write)
