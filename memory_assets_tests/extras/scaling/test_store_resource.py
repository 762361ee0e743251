"""The store resource opens the store of the settings, or the one in another folder."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import dagster as dg
import pytest

from memory_assets.assets.resources import StoreResource
from memory_assets.errors import ObjectStoreError
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.extras.scaling.s3_api import s3_api, variables


def opened(**how: str) -> Path:
    return StoreResource(**how).create_resource(dg.build_init_resource_context()).root


def test_a_run_of_a_store_in_a_bucket_needs_it_and_a_sensor_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("obstore")
    with s3_api() as api:
        for name, value in variables(api.address, tmp_path / "workspace.git").items():
            monkeypatch.setenv(name, value)
        root = open_store(read_settings()).root
    assert opened() == root
    with pytest.raises(ObjectStoreError, match="does not answer"):
        StoreResource().create_resource(cast(dg.InitResourceContext, SimpleNamespace(run=object())))
