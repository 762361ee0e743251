"""Readers see whole generations only; a killed writer, a failed one and a broken generation leave the rest alone."""

from pathlib import Path

import pytest

from memory_assets.adapters.generations import Generations
from memory_assets.errors import IndexFailedError


def publish(generations: Generations, text: str, *, rebuild: bool = False) -> Path:
    with generations.build(rebuild=rebuild) as folder, (folder / "file").open("a") as file:
        file.write(text)
    return folder


@pytest.fixture
def generations(tmp_path: Path) -> Generations:
    return Generations(tmp_path, "vectors")


def names(generations: Generations) -> list[str]:
    return sorted(path.name for path in generations.folder.iterdir())


def test_a_generation_starts_from_the_one_before_and_leaves_it_unchanged(generations: Generations):
    first, second = publish(generations, "a"), publish(generations, "b")
    assert (first / "file").read_text() == "a"
    assert (second / "file").read_text() == "ab"
    assert generations.published() == second


def test_the_last_two_generations_stay(generations: Generations):
    for text in "abcd":
        publish(generations, text)
    assert names(generations) == ["000003", "000004", "current"]


def test_a_failed_build_publishes_nothing_and_the_next_one_removes_what_it_left(
    generations: Generations,
):
    first = publish(generations, "a")
    with pytest.raises(KeyboardInterrupt), generations.build(rebuild=False) as folder:
        (folder / "file").write_text("half")
        raise KeyboardInterrupt
    assert generations.published() == first
    assert (publish(generations, "b") / "file").read_text() == "ab"
    assert len(names(generations)) == 3


def test_a_full_disk_says_what_to_do(generations: Generations):
    full = pytest.raises(IndexFailedError, match="No space left.*memory data rebuild --indexes")
    with full, generations.build(rebuild=False):
        raise OSError(28, "No space left on device")
    assert generations.published() is None


def test_a_broken_generation_is_moved_aside_whole_and_its_number_is_not_used_again(
    generations: Generations,
):
    broken = publish(generations, "a")
    aside = generations.quarantine(broken)
    assert aside is not None
    assert (aside / "file").read_text() == "a"
    assert generations.published() is None
    assert publish(generations, "b").name > broken.name


def test_a_generation_published_meanwhile_is_not_moved_for_the_failure_of_an_older_one(
    generations: Generations,
):
    old, new = publish(generations, "a"), publish(generations, "b")
    assert generations.quarantine(old) is None
    assert generations.published() == new


def test_a_generation_removed_after_its_name_was_read_is_not_missed(
    generations: Generations, monkeypatch: pytest.MonkeyPatch
):
    newest = publish(generations, "new")
    read = iter(["000000", newest.name, newest.name])
    monkeypatch.setattr(generations, "_pointer", lambda: next(read))
    assert generations.published() == newest
