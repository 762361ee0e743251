"""Texts that contradict each other: a denial counts only where the other text says the same words plainly."""

import pytest

from memory_assets.stages.evaluate.wording import contradict, likeness


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to the release branch.", "Push to the release branch."),
        ("The importer does not retry failed uploads.", "The importer retries failed uploads."),
        ("Use pip instead of uv for packages.", "Install packages with uv."),
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


def test_a_denial_reaches_four_content_words_and_ends_with_its_clause():
    assert contradict("Not alpha bravo.", "Alpha bravo.")
    assert not contradict("It is not alpha, bravo charlie delta.", "bravo charlie delta")
    assert not contradict("Not alpha bravo charlie delta echo foxtrot.", "echo foxtrot")
