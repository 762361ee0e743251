"""A store in an S3 bucket: folders share it, a deleted folder comes back, a lost race is merged, faults are named.

The server is this project's own small one, and moto's under `make test-all`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_assets.errors import ObjectStoreError, SettingsError, StoreError
from memory_assets.extras.scaling import EXTRA
from memory_assets.extras.scaling.mirror import Mirror
from memory_assets.extras.scaling.mirror_state import (
    MANIFEST,
    STATE_FILE,
    StoredFile,
    pack,
    parse_manifest,
)
from memory_assets.extras.scaling.s3_objects import S3Objects
from memory_assets.extras.scaling.shared_store import SharedStore
from memory_assets.schema.announcements import take
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.extras.scaling.s3_api import SERVERS, s3_api, s3_server, variables

pytest.importorskip("obstore")


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with s3_server(request.param, tmp_path / "server") as address:
        yield address


@pytest.fixture(autouse=True)
def bucket(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a store in an empty bucket."""
    for name, value in variables(server, tmp_path / "workspace.git").items():
        monkeypatch.setenv(name, value)


def opened(folder: Path) -> Store:
    return open_store(read_settings(data=folder))


def mirror_of(store: Store) -> Mirror:
    assert isinstance(store.shared, SharedStore)
    return store.shared.mirror


def texts(store: Store) -> list[str]:
    return [event.payload["text"] for event in store.ledger.events()]


def test_uninstalling_deletes_the_state_of_the_mirror_too():
    assert STATE_FILE in EXTRA.files


def test_two_folders_share_a_store_and_a_deleted_one_comes_back(tmp_path: Path):
    one, two = opened(tmp_path / "one"), opened(tmp_path / "two")
    assert one.key == two.key
    one.append_event("test.said", "all", {"text": "from one"})
    two.append_event("test.said", "all", {"text": "from two"})
    one.append_event("test.said", "all", {"text": "again from one"})
    one.sync()
    two.sync()
    assert set(texts(one)) == set(texts(two)) == {"from one", "from two", "again from one"}
    (one.answers / "answer.json").write_text("{}")
    one.sync()
    shutil.rmtree(one.root)
    again = opened(tmp_path / "one")
    assert (
        set(texts(again)) == set(texts(two)) and (again.answers / "answer.json").read_text() == "{}"
    )
    assert again.key == two.key


def test_two_folders_that_begin_a_store_at_once_use_one_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    replace, calls = S3Objects.replace, []

    def late(self: S3Objects, key: str, content: bytes, tag: str) -> str | None:
        calls.append(tag)
        if len(calls) == 2:  # the first folder is about to send its key
            opened(tmp_path / "two").append_event("test.said", "all", {"text": "from two"})
        return replace(self, key, content, tag)

    monkeypatch.setattr(S3Objects, "replace", late)
    one = opened(tmp_path / "one")
    keys = [(tmp_path / name / "resources" / "key").read_bytes() for name in ("one", "two")]
    assert one.key == keys[0] == keys[1] and texts(one) == ["from two"]


def test_what_is_missing_in_a_folder_is_fetched_and_what_was_changed_by_accident_too(
    tmp_path: Path,
):
    store = opened(tmp_path / "one")
    store.append_event("test.said", "all", {"text": "kept"})
    (store.answers / "answer.json").write_text("{}")
    store.sync()
    shutil.rmtree(store.root / "ledger")
    (store.answers / "answer.json").write_text("torn")
    again = opened(tmp_path / "one")
    assert texts(again) == ["kept"] and (again.answers / "answer.json").read_text() == "{}"


def test_a_manifest_that_another_replaced_meanwhile_is_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    one, two = opened(tmp_path / "one"), opened(tmp_path / "two")
    replace, calls = S3Objects.replace, []

    def late(self: S3Objects, key: str, content: bytes, tag: str) -> str | None:
        calls.append(tag)
        if len(calls) == 1:
            two.append_event("test.said", "all", {"text": "first"})
        return replace(self, key, content, tag)

    monkeypatch.setattr(S3Objects, "replace", late)
    one.append_event("test.said", "all", {"text": "second"})
    assert len(calls) == 3
    monkeypatch.undo()
    assert set(texts(one)) == {"first", "second"}
    named = {entry.key for entry in mirror_of(one)._state().files.values()} | {MANIFEST}
    assert {key for key, _ in mirror_of(one).objects.list()} == named


def test_a_damaged_object_is_found_and_sent_again(tmp_path: Path):
    store = opened(tmp_path / "one")
    store.append_event("test.said", "all", {"text": "kept"})
    mirror = mirror_of(store)
    path, entry = next(
        (path, one) for path, one in mirror._state().files.items() if path.startswith("ledger/")
    )
    mirror.objects.put(entry.key, b"damaged")
    with pytest.raises(ObjectStoreError, match="does not match its hash"):
        opened(tmp_path / "two")
    assert mirror.faults(lambda _: True)[0] == []
    assert texts(opened(tmp_path / "two")) == ["kept"]
    mirror.objects.delete([entry.key])
    shutil.rmtree(store.root / "ledger")
    assert mirror.faults(lambda _: True)[0] == [path]


def test_a_known_folder_is_used_while_the_server_is_down_and_a_new_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    opened(tmp_path / "one").append_event("test.said", "all", {"text": "kept"})
    take()
    with monkeypatch.context() as down:
        down.setenv("MEMORY_STORE_ENDPOINT", "http://127.0.0.1:9")
        store = opened(tmp_path / "one")
        store.append_event("test.said", "all", {"text": "said while it is down"})
        assert len(texts(store)) == 2
        assert [
            note for note in take() if "does not answer" in note and "sent by the next run" in note
        ]
        with pytest.raises(ObjectStoreError, match="does not answer"):
            store.sync()
        with pytest.raises(ObjectStoreError, match="does not answer"):
            opened(tmp_path / "two")
    opened(tmp_path / "one")
    assert len(texts(opened(tmp_path / "two"))) == 2


def test_a_missing_bucket_and_a_missing_remote_and_another_store_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = opened(tmp_path / "one")
    with pytest.raises(ObjectStoreError, match="There is no bucket 'nowhere'"):
        open_store(read_settings(data=tmp_path / "two", store="s3://nowhere"))
    with pytest.raises(SettingsError, match="MEMORY_REMOTE"):
        open_store(read_settings(data=tmp_path / "two", remote=""))
    other = open_store(read_settings(data=tmp_path / "other", store="", remote=""))
    assert other.key != store.key
    other.append_event("test.said", "all", {"text": "of another store"})
    with pytest.raises(StoreError, match="holds another store"):
        opened(tmp_path / "other")


def test_wrong_credentials_are_one_line_that_does_not_show_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with s3_api() as api:
        monkeypatch.setenv("MEMORY_STORE_ENDPOINT", api.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody-else")
        with pytest.raises(ObjectStoreError, match="refuses the credentials") as refused:
            opened(tmp_path / "two")
        assert "\n" not in str(refused.value) and "secret-of-the-test" not in str(refused.value)


def test_a_removed_document_is_removed_for_all_and_a_lost_folder_of_them_is_not(tmp_path: Path):
    library = pytest.importorskip("memory_assets.extras.library.kept_documents")
    one, two = opened(tmp_path / "one"), opened(tmp_path / "two")
    mine, theirs = (library.Documents(store.root) for store in (one, two))
    for name in ("doc_a", "doc_b"):
        path = mine.folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    one.sync()
    two.sync()
    mine.remove("doc_a")
    one.sync()
    two.sync()
    assert theirs.ids() == ["doc_b"]
    shutil.rmtree(mine.folder)
    one.sync()
    assert mine.ids() == ["doc_b"]


@pytest.mark.parametrize(
    "path",
    ["../.bashrc", "tables/../../.bashrc", "/etc/cron.d/x", "workspace/.git/hooks/post-commit", "memory.toml", "tables", "tables//a",
     "library/.git/config", "ledger/..\\..\\x", "dagster/dagster.yaml"],
)  # fmt: skip
def test_a_manifest_writes_nothing_but_files_of_the_store(path: str):
    named = {"VERSION": StoredFile("VERSION-1", "0" * 64, 2), path: StoredFile("x", "0" * 64, 1)}
    with pytest.raises(ObjectStoreError, match="it names the file"):
        parse_manifest(pack(named, ["a"]), "tag", "s3://bucket/shared")
