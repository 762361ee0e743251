"""Labelled near-misses stay apart and labelled repetitions come together, with the similarity that the model really gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.stages.embed.claims import same_claim

NEAR_MISSES = [
    ("The staging database listens on port 5433.", "The staging database listens on port 5432."),
    ("Always force-push to main.", "Never force-push to main."),
    ("The bucket is in eu-west-2.", "The bucket is in eu-west-1."),
    ("The project runs on Python 3.12.", "The project runs on Python 3.11."),
    ("Run the migrations before the deploy.", "Run the migrations after the deploy."),
    ("Retries are enabled for the queue.", "Retries are disabled for the queue."),
    ("Deploy to staging on Fridays.", "Deploy to production on Fridays."),
    ("Use uv instead of pip.", "Use pip instead of uv."),
    ("The api depends on the worker.", "The worker depends on the api."),
    ("The timeout is 30 seconds.", "The timeout is 30 minutes."),
    ("Every change needs two reviewers.", "Every change needs three reviewers."),
    ("Do not commit to main.", "Commit to main."),
    ("Alice reviews the release notes.", "Bob reviews the release notes."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    # One construction around another word.
    (
        "The download failed because the link was broken.",
        "The upload failed because the link was broken.",
    ),
    ("The importer rejects blank lines.", "The importer accepts blank lines."),
    ("The red lamp shows that the pump is off.", "The green lamp shows that the pump is off."),
    # A command with another subcommand or flag; other flags.
    ("Check a branch with `acme diff --all`.", "Check a branch with `acme diff`."),
    ("Run the suite with --slow at night.", "Run the suite with --fast at night."),
    # A condition, a limit, a direction, a guess, an order and its report, a state of the moment.
    ("Push to main if the owner agrees.", "Push to main."),
    ("Keep a summary above 200 words.", "Keep a summary below 200 words."),
    ("The last line was changed from `done` to `open`.", "The last line was changed to `done`."),
    ("The cache could be stale.", "The cache is stale."),
    ("Added a test for the empty basket.", "Add a test for the empty basket."),
    ("The nightly build passes again.", "The nightly build of the shop passes."),
    ("The importer used SQLite.", "The importer uses SQLite."),
    ("Remove the old parser in `src/queue.py`.", "Removed the old parser in `src/queue.py`."),
    # A request and an announcement, one command in two remarks, a word that stands on both sides.
    ("I'll review the changes of the importer.", "Can you review the changes of the importer?"),
    (
        "If it prints nothing, log in again: `acme whoami --host lab`",
        "For the lab you can use: `acme whoami --host lab`",
    ),
    ("The main branch is called main.", "The main branch is called trunk."),
    ("Never run the linter before you push.", "Always run the linter before you push."),
]
REPETITIONS = [
    ("Never force-push to main.", "never force-push to main"),
    ("Run make check before every commit.", "Before every commit, run make check."),
    (
        "The staging database listens on port 5433.",
        "Port 5433 is where the staging database listens.",
    ),
    ("The owner prefers small commits.", "The owner likes to make small commits."),
    (
        "Integration tests must not call the network.",
        "Integration tests should never call the network.",
    ),
    ("We use `uv` to manage dependencies.", "We use `uv` for dependencies."),
    ("Error messages should say what to do.", "An error message should tell people what to do."),
    # Politeness, marks, introductions, active and passive, one form of a limit.
    ("Please always run make check before you push.", "Always run `make check` before you push."),
    ("Again: no emojis in the changelog.", "Never use emojis in the changelog."),
    ("The invoices are checked by Priya.", "Priya checks the invoices."),
    ("A summary has at most 200 words.", "Keep a summary under 200 words."),
    (
        "The retries are configured in conf/queue.toml.",
        "The retries are configured in `queue.toml`.",
    ),
    ("If the owner agrees, push to main.", "Push to main when the owner agrees."),
    # Synonyms and relatives, who asked for it, a denial that demands, a noun that contains a denial.
    ("The importer refuses blank lines.", "The importer rejects blank lines."),
    (
        "A failure of the importer stops the nightly report.",
        "If the importer fails, the nightly report stops.",
    ),
    (
        "The owner asked for the compact layout to be the default.",
        "The compact layout should be the default.",
    ),
    ("Never restart the broker without asking me.", "Ask me before you restart the broker."),
    (
        "A voucher expires after 90 days of inactivity.",
        "After 90 days without activity a voucher expires.",
    ),
    ("dont translate the log messages pls", "Never translate the log messages."),
    ("Never push before you run the tests.", "Run the tests before you push."),
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def cosine(embedder: LocalEmbedder, a: str, b: str) -> float:
    return float(embedder.encode_query(a) @ embedder.encode_query(b))


@pytest.mark.parametrize(("newer", "older"), NEAR_MISSES)
def test_a_near_miss_is_another_claim_whichever_came_first(
    embedder: LocalEmbedder, newer: str, older: str
):
    similarity = cosine(embedder, newer, older)
    assert same_claim(newer, older, similarity) is None
    assert same_claim(older, newer, similarity) is None


@pytest.mark.parametrize(("newer", "older"), REPETITIONS)
def test_a_repetition_in_other_words_is_the_same_claim(
    embedder: LocalEmbedder, newer: str, older: str
):
    assert same_claim(newer, older, cosine(embedder, newer, older)) is not None


@pytest.mark.parametrize(
    "lost",
    [
        "Use port 5432 for `payments-db`.",
        "Deploys to `payments-db` use 5432.",
        "Use 5432 as Alice does for the db.",
    ],
)
def test_a_newer_wording_without_a_specific_of_the_older_one_does_not_absorb_it(lost: str):
    assert same_claim("Use port for the db.", lost, 0.99) is None


@given(st.text(min_size=1, max_size=200))
def test_the_same_words_are_the_same_claim_at_any_similarity(text: str):
    assert same_claim(text, text, 0.0) == "same words"


def test_a_sentence_that_gives_something_up_is_not_the_one_that_asserted_it():
    assert (
        same_claim(
            "We moved from Jenkins to Buildkite for make check.", "Jenkins runs make check.", 0.95
        )
        is None
    )
    assert (
        same_claim("Always use uv, never pip.", "Use uv, not pip.", 0.95)
        == "same words in another order"
    )
