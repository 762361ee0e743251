"""The values for Dagster's Helm chart: they say what the local configuration says, and fit the chart's schema where it is given.

`HELM_SCHEMA` names the chart's `values.schema.json`, which is not part of this repository.
"""

import json
import os
from pathlib import Path
from typing import Any

import dagster as dg
import jsonschema
import pytest
import yaml

from memory_assets_tests.conftest import REPOSITORY

SCHEMA = os.environ.get("HELM_SCHEMA", "")


def values() -> dict[str, Any]:
    return yaml.safe_load((REPOSITORY / "docs" / "kubernetes-values.yaml").read_text())


def own_types(node: Any, *, is_whole: bool) -> Any:
    """The schema without Kubernetes' own types, which would have to be fetched; names that the chart does not know are refused.

    Unless it `is_whole`, nothing has to be there: the chart's own values complete these.
    """
    if isinstance(node, list):
        return [own_types(one, is_whole=is_whole) for one in node]
    if not isinstance(node, dict):
        return node
    is_own = not str(node.get("$ref", "")).startswith("https://")
    closed = (
        {"additionalProperties": False}
        if is_own and node.get("properties") and "title" in node
        else {}
    )
    left_out = {*([] if is_own else ["$ref"]), *([] if is_whole else ["required"])}
    return {
        name: own_types(one, is_whole=is_whole)
        for name, one in node.items()
        if name not in left_out
    } | closed


def check(given: dict[str, Any], schema: dict[str, Any]) -> None:
    """Raises `ValidationError` if the values do not fit; lists replace those of the chart, so their items have to be whole."""
    jsonschema.validate(given, own_types(schema, is_whole=False))
    named = "$defs" if "$defs" in schema else "definitions"
    for one in given["dagster-user-deployments"]["deployments"]:
        jsonschema.validate(
            one,
            own_types({named: schema[named], "$ref": f"#/{named}/UserDeployment"}, is_whole=True),
        )


@pytest.mark.skipif(not SCHEMA, reason="HELM_SCHEMA does not name the chart's values.schema.json")
def test_the_values_fit_the_schema_of_the_chart():
    schema = json.loads(Path(SCHEMA).read_text())
    check(values(), schema)
    (deployment,) = values()["dagster-user-deployments"]["deployments"]
    for wrong in (
        {"dagsterDeamon": {}},
        {"telemetry": {"enabled": "no"}},
        {"runLauncher": {"type": "LocalLauncher"}},
        {"dagster-user-deployments": {"deployments": [{**deployment, "volumeMount": []}]}},
        {
            "dagster-user-deployments": {
                "deployments": [{name: deployment[name] for name in deployment if name != "image"}]
            }
        },
        {"dagsterDaemon": {**values()["dagsterDaemon"], "runRetry": {}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            check({**values(), **wrong}, schema)


def test_dagster_queues_runs_with_what_the_chart_adds_to_its_configuration(tmp_path: Path):
    found = values()
    assert found["dagsterDaemon"]["runCoordinator"] == {"enabled": False}
    config = {**found["additionalInstanceConfig"], "telemetry": found["telemetry"]}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(config))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        config = instance.get_concurrency_config()
        assert type(instance.run_coordinator).__name__ == "QueuedRunCoordinator"
        assert config.run_queue_config is not None
        assert config.run_queue_config.max_concurrent_runs == 1
        assert config.pool_config.default_pool_limit == 1
