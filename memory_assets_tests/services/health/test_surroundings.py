"""Links in the store that lead out of it are named by doctor, each with where it leads."""

from pathlib import Path

from memory_assets.services.health.surroundings import check_links, check_permissions


def test_links_that_lead_out_of_the_store_are_named_and_those_inside_are_not(tmp_path: Path):
    store = tmp_path / "store"
    (store / "workspace").mkdir(parents=True)
    outside = tmp_path / "outside.md"
    outside.write_text("Not of this store.")
    (store / "kept.md").write_text("Of this store.")
    (store / "inside.md").symlink_to(store / "kept.md")
    assert check_links(store).passed
    (store / "workspace" / "MEMORY.md").symlink_to(outside)
    (store / "lock").symlink_to(tmp_path / "nowhere")
    (store / "status.txt").symlink_to("status.txt")
    check = check_links(store)
    assert not check.passed
    assert f"workspace/MEMORY.md (to {outside})" in check.found
    assert f"lock (to {tmp_path / 'nowhere'})" in check.found
    assert "status.txt (to status.txt)" in check.found


def test_a_link_is_not_taken_for_a_file_that_is_open_to_others(tmp_path: Path):
    store = tmp_path / "store"
    store.mkdir(mode=0o700)
    (store / "link").symlink_to(tmp_path)
    assert check_permissions(store).passed
