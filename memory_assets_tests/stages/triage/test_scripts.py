"""Orders to run a script by its path, or to add a package, wait for a person; a check that the owner names does not."""

import pytest

from memory_assets.stages.triage.sensitive import sensitive_reason
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize("text", LABELLED["scripts"])
def test_an_order_to_run_a_script_waits(text: str):
    assert "runs a script by its path" in str(sensitive_reason(text))


@pytest.mark.parametrize("text", LABELLED["packages"])
def test_an_order_to_add_a_package_waits(text: str):
    assert "adds a package" in str(sensitive_reason(text))


@pytest.mark.parametrize("text", LABELLED["ordinary"])
def test_a_check_a_place_and_what_is_forbidden_do_not(text: str):
    assert sensitive_reason(text) is None
