"""Exports of everything: readable by people and programs, and a store again, equal; a changed file or a kill changes nothing."""

import errno
import os
import stat
import tomllib
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import StoreError
from memory_assets.schema.tables import table_names
from memory_assets.services.transfer import export as exports
from memory_assets.services.transfer.export import changed_tables, export_all, import_all
from memory_assets.services.transfer.exported_settings import render_settings
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.attacks.kill_points import KilledError
from memory_assets_tests.once import sampled
from memory_assets_tests.services.transfer.stores import (
    everything_below,
    filled_store,
    kept,
    settings_at,
)
from memory_assets_tests.small_store import FACT


@pytest.fixture
def store() -> Store:
    return filled_store()


@pytest.fixture
def exported(store: Store, tmp_path: Path) -> Path:
    return export_all(store, tmp_path / "export").path


def test_an_imported_store_has_the_same_files_but_for_the_settings(
    store: Store, exported: Path, tmp_path: Path
):
    found = open_store(settings_at(import_all(exported, settings_at(tmp_path / "again")).root))
    ours, theirs = kept(found), kept(store)
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} == {"memory.toml"}
    assert found.memory_md() == store.memory_md()


def test_every_table_is_one_file_that_any_program_reads(store: Store, exported: Path):
    assert sorted(path.stem for path in (exported / "tables").iterdir()) == sorted(table_names())
    assert pl.read_parquet(exported / "tables" / "memories.parquet")["text"].to_list() == [FACT]


def test_the_tables_are_compared_with_the_exported_ones(store: Store, exported: Path):
    assert changed_tables(store, exported) == []
    store.tables.write(
        "memories", "all", store.tables.read("memories").with_columns(text=pl.lit("other"))
    )
    assert changed_tables(store, exported) == ["memories"]


def test_only_the_owner_can_read_an_export(exported: Path):
    assert {
        stat.S_IMODE(path.stat().st_mode) for path in exported.rglob("*") if path.is_file()
    } == {0o600}
    assert {
        stat.S_IMODE(path.stat().st_mode)
        for path in (exported, *exported.rglob("*"))
        if path.is_dir()
    } == {0o700}


def test_settings_come_along_without_secrets_and_paths(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("MEMORY_REMOTE", "https://mira:Kq7zW4xVtide9Pj@git.example/memory.git")
    monkeypatch.setenv("MEMORY_REVIEW_DAYS", "9")
    monkeypatch.setenv("MEMORY_GOLD", str(tmp_path))
    monkeypatch.setenv("MEMORY_TIMEZONE", "Europe/Berlin")
    monkeypatch.setenv("MEMORY_ALIASES", '{"harbor": ["hb"]}')
    text, left_out = render_settings(read_settings())
    found = tomllib.loads(text.decode())
    assert (
        found["review_days"] == 9
        and found["timezone"] == "Europe/Berlin"
        and found["aliases"] == {"harbor": ["hb"]}
    )
    assert found["owner"]
    assert not {"remote", "gold", "data", "now"} & found.keys()
    assert {"remote", "gold"} <= set(left_out)


def test_imported_settings_that_name_a_model_are_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store
):
    settings = store.settings.model_copy(update={"model": "claude-haiku-4-5"})
    exported = export_all(Store(settings, store.root), tmp_path / "export").path
    placed = import_all(exported, settings_at(tmp_path / "again"))
    assert (
        "claude-haiku-4-5" in placed.warnings[0] and "memory model use rules" in placed.warnings[0]
    )


def test_a_changed_or_missing_file_is_named_and_nothing_is_imported(exported: Path, tmp_path: Path):
    files = [
        path
        for path in sorted(exported.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    ]
    for path in sampled(files, 8):
        content = path.read_bytes()
        for damage in (lambda path=path: path.write_bytes(path.read_bytes() + b"x"), path.unlink):
            damage()
            with pytest.raises(StoreError, match=path.name):
                import_all(exported, settings_at(tmp_path / "again"))
            assert everything_below(tmp_path / "again") == []
            path.write_bytes(content)


def test_a_manifest_that_is_no_manifest_is_named(exported: Path, tmp_path: Path):
    for content in (b"", b"[]", b'{"format": 1}', b'{"format": "x", "release": 1}'):
        (exported / "manifest.json").write_bytes(content)
        with pytest.raises(StoreError, match="manifest cannot be read"):
            import_all(exported, settings_at(tmp_path / "again"))


def test_an_import_never_overwrites_a_store(store: Store, exported: Path):
    before = everything_below(store.root)
    with pytest.raises(StoreError, match="is not empty"):
        import_all(exported, settings_at(store.root))
    assert everything_below(store.root) == before


def test_an_export_overwrites_nothing(store: Store, exported: Path, tmp_path: Path):
    for target in (exported, exported / "manifest.json"):
        with pytest.raises(StoreError, match="is not an empty folder"):
            export_all(store, target)
    with pytest.raises(StoreError, match="outside of the data folder"):
        export_all(store, store.root / "export")


@pytest.mark.parametrize(
    "error", [KilledError("killed"), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))]
)
def test_a_broken_export_leaves_no_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(exports, "render_settings", fails)
    with pytest.raises((StoreError, KilledError)):
        export_all(store, tmp_path / "out" / "export")
    assert list((tmp_path / "out").iterdir()) == []
