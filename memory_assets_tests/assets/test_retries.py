"""A step that fails for a while is tried again, with waits in between, and says how often."""

import pytest

from memory_assets.assets import factory
from memory_assets.errors import DamagedError, ModelBusyError, StoreError
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.small_store import DAY, small_store


def failing(patch: pytest.MonkeyPatch, *errors: Exception) -> list[Exception]:
    """Makes the next builds fail with these errors, one after the other."""
    waiting, build = list(errors), factory.materialise

    def materialise(*arguments, **options):
        if waiting:
            raise waiting.pop(0)
        return build(*arguments, **options)

    patch.setattr(factory, "materialise", materialise)
    return waiting


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_busy_model_is_asked_again_and_the_ui_shows_how_often(
    monkeypatch: pytest.MonkeyPatch, count: int
):
    store = small_store()
    failing(monkeypatch, *[ModelBusyError("It is busy.", retry_after_seconds=0.01)] * count)
    result = run_assets(store, "observer_answers", days=(DAY, DAY))
    assert metadata_of(result, "observer_answers")["retries"] == count


def test_a_damaged_file_is_no_reason_to_try_the_same_step_again(monkeypatch: pytest.MonkeyPatch):
    """What was put aside belongs to an earlier step: this one would build from less."""
    store = small_store()
    waiting = failing(monkeypatch, DamagedError("It was put aside."), StoreError("not reached"))
    assert not run_assets(store, "mentions", raise_on_error=False).success
    assert len(waiting) == 1
