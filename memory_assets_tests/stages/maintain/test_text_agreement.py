"""Texts that contradict each other: a denial counts only where the other text says plainly the same, in nearly the same words."""

import pytest

from memory_assets.stages.maintain.text_agreement import contradict, likeness


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to the release branch.", "Push to the release branch."),
        ("The importer does not retry failed uploads.", "The importer retries failed uploads."),
        ("Install packages with pip instead of uv.", "Install packages with uv."),
        ("Deploy without running the migrations.", "Deploy, running the migrations first."),
    ],
)
def test_a_text_contradicts_one_that_says_plainly_what_it_denies(one: str, other: str):
    assert contradict(one, other)
    assert contradict(other, one)
    assert likeness(one, other) == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to the release branch.", "Don't push to the release branch."),
        ("Install packages with uv, never with pip.", "Install packages with uv."),
        ("The importer retries uploads; it has no limit.", "The importer retries uploads."),
        ("Run the tests, no matter which file changed.", "Run the tests whichever file changed."),
        ("The report is not only sent but also archived.", "The report is sent and archived."),
    ],
)
def test_a_denial_of_something_else_or_of_the_same_contradicts_nothing(one: str, other: str):
    assert not contradict(one, other)
    assert not contradict(other, one)
    assert likeness(one, other) > 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "A patch is rejected, no longer right after a rebase.",
            "The server rejects a patch: right after each rebase its base commit is another one.",
        ),
        (
            "Exports run on one worker, never at night beside the backup.",
            "The exports wait for the backup, which at night takes the only worker for an hour.",
        ),
    ],
)
def test_texts_that_share_less_of_their_wording_are_not_compared(one: str, other: str):
    assert not contradict(one, other)
    assert not contradict(other, one)
    assert likeness(one, other) > 0.0


def test_a_denial_reaches_four_content_words_and_ends_with_its_clause():
    assert contradict("Not alpha bravo.", "Alpha bravo.")
    assert not contradict("It is not alpha, bravo charlie delta.", "bravo charlie delta")
    assert not contradict(
        "Not alpha bravo charlie delta echo foxtrot golf hotel.", "echo foxtrot golf hotel"
    )
