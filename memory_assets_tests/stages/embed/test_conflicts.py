"""Pairs that a person would call unrelated stay apart, whatever their cosine; pairs that cannot both hold, or say one thing, meet.

Each pair is judged as the pipeline judges it: with its scope and category, and the similarity that the model really gives.
"""

from datetime import timedelta
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.schema.frames import empty
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.embed.merge import find_edges
from memory_assets_tests.factories import START, frame, row


class Said(NamedTuple):
    """A statement of the owner about the project `shop`, unless it says otherwise."""

    text: str
    changes: dict[str, str] = {}


def elsewhere(text: str) -> Said:
    return Said(text, {"project": "blog"})


def filed(category: str, text: str) -> Said:
    return Said(text, {"category": category})


def wanted_by(person: str, text: str) -> Said:
    return Said(text, {"scope": "person", "person": person, "category": "preferences"})


UNRELATED = [
    # The same words about another project, or of another person.
    (
        Said("The staging database listens on port 5432."),
        elsewhere("The staging database listens on port 5432."),
    ),
    (
        Said("The staging database listens on port 5433."),
        elsewhere("The staging database listens on port 5432."),
    ),
    (Said("Use pnpm for packages."), elsewhere("Never use pnpm for packages.")),
    (
        Said("Always squash commits before merging."),
        elsewhere("Never squash commits before merging."),
    ),
    (
        Said("We moved from Jenkins to Buildkite for the deploy pipeline."),
        elsewhere("The deploy pipeline runs on Jenkins."),
    ),
    (Said("Run make check before every commit."), elsewhere("Run make check before every commit.")),
    (
        wanted_by("ann", "Use tabs for indentation."),
        wanted_by("bob", "Use spaces for indentation."),
    ),
    (
        wanted_by("ann", "I like short commit messages."),
        wanted_by("bob", "I like short commit messages."),
    ),
    (
        Said("Use spaces for indentation in this repository."),
        wanted_by("ann", "Use tabs for indentation."),
    ),
    # The same thing, filed under something else.
    (
        filed("people-relationships", "Mira owns payments-db."),
        filed("operations", "The nightly backup covers payments-db."),
    ),
    (
        filed("operations", "Deploys of the shop are not automatic."),
        filed("projects", "Deploys of the shop are automatic."),
    ),
    (
        filed("operations", "The limit is 20 requests."),
        filed("projects", "The limit is 30 requests."),
    ),
    # The same subject with another flag, version or path.
    (
        Said("`pytest -x` stops at the first failure."),
        Said("`pytest -q` prints less at the first failure."),
    ),
    (
        Said("Run the suite with --slow before a release."),
        Said("Run the suite with --fast before a release."),
    ),
    (Said("git-sync 1.3 supports bundles."), Said("git-sync 1.2 supports bundles.")),
    (Said("CI tests the package on Python 3.12."), Said("CI tests the package on Python 3.11.")),
    (Said("The parser is in src/parser/tables.py."), Said("The parser is in src/parser/rows.py.")),
    (
        Said("Logs of the worker are in /var/log/worker."),
        Said("Logs of the worker are in /var/log/nginx."),
    ),
    (
        Said("The `--force` flag overwrites the target."),
        Said("The `--prune` flag overwrites the target."),
    ),
    (
        Said("Release notes of 2.0 are in CHANGELOG.md."),
        Said("Release notes of 1.9 are in CHANGELOG.md."),
    ),
    # Numbers that count, number or measure.
    (Said("Step 3 is to deploy to staging."), Said("Step 2 is to deploy to staging.")),
    (Said("2. Run the migrations on staging."), Said("1. Run the migrations on staging.")),
    (Said("ADR-13 is about the queue."), Said("ADR-12 is about the queue.")),
    (Said("Issue 41 is in the queue."), Said("Issue 40 is in the queue.")),
    (Said("Coverage of the parser is 86%."), Said("Coverage of the parser is 84%.")),
    (Said("The total number of tests is 330."), Said("The total number of tests is 312.")),
    (Said("Milestone 4 needs 2 reviewers."), Said("Milestone 3 needs 2 reviewers.")),
    # What was, and what is; what is so at the moment.
    (Said("The api is on Fly."), Said("The api was on Heroku.")),
    (Said("The default branch was master."), Said("The default branch is main.")),
    (Said("The tests of the queue are passing."), Said("The tests of the queue are not passing.")),
    (Said("CI is green."), Said("CI is not green.")),
    (Said("The build is broken on main."), Said("The build is not broken on main.")),
    # Ideas, questions and conditions.
    (Said("What if the api used Redis, not Memcached?"), Said("The api caches in Memcached.")),
    (Said("Maybe the timeout should be 60 seconds."), Said("The timeout should be 30 seconds.")),
    (
        Said("We could switch from Jenkins to Buildkite."),
        Said("The deploy pipeline runs on Jenkins."),
    ),
    (Said("Never force-push to main?"), Said("Always force-push to main.")),
    (Said("I'd like to switch to v6."), Said("There is no v6.")),
    (Said("Now unit tests for the queue."), Said("No unit tests for the queue.")),
    (
        Said("Let me rewrite the client to use Redis, not Memcached."),
        Said("The client caches in Memcached."),
    ),
    (Said("Commit the changes of the parser."), Said("The changes of the parser are uncommitted.")),
    # Two subjects that look alike.
    (Said("Samples above 900 are dropped."), Said("Samples below 10 are dropped.")),
    (
        Said("Thin packs are resolved on the target, not in the pack."),
        Said("A thin pack can refer to bases outside the pack."),
    ),
    (Said("Deploy to staging on Fridays."), Said("Deploy to production on Fridays.")),
    (Said("The api depends on the worker."), Said("The worker depends on the api.")),
    (Said("Alice reviews the release notes."), Said("Bob reviews the release notes.")),
    (Said("Use ruff for linting."), Said("Use pyright for types.")),
    (
        Said("The shop caches in Redis, not Memcached."),
        Said("The blog counts visits in Memcached."),
    ),
    (
        Said("The README uses `go run` instead of git-sync."),
        Said("git-sync asks for a password on public hosts."),
    ),
    (
        Said("Use `replicate` rather than `--force --all-refs` in sync."),
        Said("`sync` tolerates no-thin and falls back."),
    ),
    (
        Said("We're moving from Fly to Hetzner."),
        Said("Fly blocks the shared addresses of the feed."),
    ),
    (
        Said("The dev Postgres listens on port 5433 instead of 5432."),
        Said("Another Postgres of a client holds port 5432."),
    ),
    (Said("Let's poll every 600 s instead of 60."), Said("A claim times out after 60 seconds.")),
    (Said("Leith should warn at 5.2 m, not 5.4 m."), Said("Whitby should warn at 5.4 m.")),
    (Said("Redis is used for sessions."), Said("Redis is used for rate limits.")),
    (Said("It lists the refs of the target."), Said("It lists the refs of the source.")),
    (
        Said("The import of the test data took 38 seconds."),
        Said("The import of the test data took 41 seconds."),
    ),
    # A change of something else, one that is not done, and what was only said beside the old name.
    (
        Said("We moved the docs from Fly to Netlify."),
        Said("We deploy the checkout to Fly.io, region lhr."),
    ),
    (Said("Priya's team switched from Slack to Discord."), Said("Deploy notices go to Slack.")),
    (Said("We moved the worker from port 8081 to 8082."), Said("The api listens on port 8081.")),
    (Said("We're thinking of moving from Fly to Hetzner."), Said("We deploy the shop to Fly.io.")),
    (Said("Don't move from Fly to Hetzner."), Said("We deploy the shop to Fly.io.")),
    (Said("If Fly is gone, use the backup."), Said("We deploy the shop to Fly.io.")),
    (Said("Fly is down today."), Said("We deploy the shop to Fly.io.")),
    (Said("The Fly volume is gone."), Said("We deploy the shop to Fly.io.")),
    (Said("Staging moved from Fly to Hetzner."), Said("Production runs on Fly.")),
    (Said("We moved from GitHub to GitLab."), Said("Customers log in with GitHub.")),
    (Said("We no longer use Redis for sessions."), Said("Rate limits are stored in Redis.")),
    (Said("We're moving from Fly to Hetzner."), elsewhere("We deploy the blog to Fly.io.")),
    (Said("We're moving from Fly to Hetzner."), Said("Fly's volumes were too slow.")),
    (
        Said("We're moving from Fly to Hetzner."),
        Said("The Fly bill of the test is 61 dollars, mostly the database."),
    ),
    (
        Said("We're moving from Fly to Hetzner."),
        Said("A deploy took four minutes on Fly, the image was too large."),
    ),
    (Said("We're moving from Fly to Hetzner."), Said("Never deploy to Fly on a Friday.")),
]

OTHERWISE = [
    (Said("Never force-push to main."), Said("Always force-push to main.")),
    (Said("Do not commit to main."), Said("Commit to main.")),
    (Said("Don't use mocks in integration tests."), Said("Use mocks in integration tests.")),
    (Said("The client does not support HTTP/2."), Said("The client supports HTTP/2.")),
    (Said("Retries are disabled for the queue."), Said("Retries are enabled for the queue.")),
    (Said("A changelog entry is optional."), Said("A changelog entry is required.")),
    (Said("Run the migrations after the deploy."), Said("Run the migrations before the deploy.")),
    (Said("The repository is private."), Said("The repository is public.")),
    (Said("Never run the linter before you push."), Said("Always run the linter before you push.")),
    (Said("Squash commits before merging."), Said("Never squash commits before merging.")),
    (
        Said("The staging database listens on port 5433."),
        Said("The staging database listens on port 5432."),
    ),
    (Said("The bucket is in eu-west-2."), Said("The bucket is in eu-west-1.")),
    (Said("The project runs on Python 3.12."), Said("The project runs on Python 3.11.")),
    (Said("The timeout is 60 seconds."), Said("The timeout is 30 seconds.")),
    (Said("Every change needs 3 reviewers."), Said("Every change needs 2 reviewers.")),
    (Said("The upload limit is 20 MB."), Said("The upload limit is 10 MB.")),
    (Said("The default branch is main."), Said("The default branch is master.")),
    (Said("Use spaces for indentation."), Said("Use tabs for indentation.")),
    (Said("We use pnpm for packages."), Said("We use npm for packages.")),
    (Said("Release on Thursdays."), Said("Release on Fridays.")),
    (Said("The tests run with unittest."), Said("The tests run with pytest.")),
    (Said("Sessions are stored in Memcached."), Said("Sessions are stored in Redis.")),
    (Said("Use uv instead of pip."), Said("Use pip instead of uv.")),
    (Said("Always use `uv`, never `pip`, for packages."), Said("Use pip to install packages.")),
    (Said("The api uses Redis, not Memcached."), Said("The api caches in Memcached.")),
    (
        Said("We moved from Jenkins to Buildkite for the deploy pipeline."),
        Said("The deploy pipeline runs on Jenkins."),
    ),
    (
        Said("The deploy pipeline no longer runs on Jenkins; it runs on Buildkite."),
        Said("The deploy pipeline runs on Jenkins."),
    ),
    (
        Said("We replaced Webpack with Vite for the shop's bundle."),
        Said("The shop's bundle is built with Webpack."),
    ),
    (
        Said("The default branch was renamed from master to main."),
        Said("The default branch is master."),
    ),
    (
        Said("The staging database is on port 5433 (was 5432)."),
        Said("The staging database is on port 5432."),
    ),
    (
        Said("The frontend is hosted on Netlify rather than Heroku."),
        Said("The frontend is hosted on Heroku."),
    ),
    (
        Said("Let's poll every 600 s instead of 60, with a timeout of 15 s."),
        Said("We poll every 60 seconds."),
    ),
    (Said("Leith should warn at 5.2 m, not 5.4 m."), Said("Leith should warn at 5.4 m.")),
    (
        filed(
            "rules-conventions",
            "So we move: the dev Postgres listens on port 5433 instead of 5432. The README says so.",
        ),
        filed(
            "projects",
            "The dev Postgres listens on port 5432, database shop. Put it in compose.yaml.",
        ),
    ),
    # Whatever the turn begins with.
    (
        Said("Hm, I wonder why that failed. The api listens on port 8190."),
        Said("The api listens on port 8090."),
    ),
    (Said("What? No! The timeout is 60 seconds."), Said("The timeout is 30 seconds.")),
    (Said("Sorry, never force-push to main."), Said("Always force-push to main.")),
    # In another construction.
    (Said("Emojis are forbidden in the changelog."), Said("Emojis are allowed in the changelog.")),
    (Said("No emojis in the changelog."), Said("Please add emojis to the changelog.")),
    (Said("We raised the upload limit to 50 MB."), Said("The upload limit is 20 MB.")),
    (Said("Use pnpm for the frontend, not npm."), Said("Use npm for the frontend.")),
    (Said("Priya owns the checkout."), Said("Omar owns the checkout.")),
    (Said("Sort the rows before you filter them."), Said("Filter the rows before you sort them.")),
    (Said("You don't have to ask me before a restart."), Said("Ask me before a restart.")),
    (Said("Invoices are stored in Garage."), Said("Invoices are stored in Minio.")),
    (Said("The mail service is Postfix."), Said("The mail service is Exim.")),
    (Said("The lamp blinks 4 times per second."), Said("The lamp blinks 2 times per second.")),
    (Said("Never use pip, use uv."), Said("Use pip, not uv.")),
    (Said("Letters are written in French."), Said("Letters are written in German.")),
    # However far apart in meaning, and whichever details the older one has.
    (
        Said("We're moving from Fly to Hetzner."),
        filed("rules-conventions", "We deploy it to Fly.io, app shop-lhr, region lhr."),
    ),
    (
        Said("The Fly app is gone."),
        filed("rules-conventions", "We deploy it to Fly.io, app shop-lhr, region lhr."),
    ),
    (
        Said("We migrated the database from MySQL to Postgres."),
        filed("projects", "Orders are stored in MySQL, schema shop."),
    ),
    (Said("MySQL is gone."), filed("rules-conventions", "We use MySQL 8 as our database.")),
    (
        Said("The api no longer listens on port 8080."),
        Said("The api listens on port 8080, bound to localhost."),
    ),
    (
        Said("We moved the shop from port 8080 to 9090 last week."),
        Said("The service listens on port 8080."),
    ),
    (
        Said("We switched from Poetry to uv, it is faster."),
        filed("projects", "Dependencies are managed with Poetry."),
    ),
    (Said("We don't use yarn any more."), Said("Always use yarn in the frontend.")),
    (
        Said("We've switched from Slack to Discord."),
        Said("Deploy notices go to Slack, channel #deploys."),
    ),
    (
        Said("The Slack workspace is gone."),
        Said("Releases are announced in the #releases channel on Slack."),
    ),
    (
        Said("CI moved from Jenkins to Buildkite."),
        Said("CI runs on Jenkins, job deploy-all on box ci-1."),
    ),
    (Said("Jenkins is retired."), filed("projects", "Jenkins builds every branch.")),
    (
        Said("The team moved from Slack to Zulip last Monday."),
        Said("We meet in Slack, channel #shop."),
    ),
    (Said("The api moved from 8080 to 9090."), Said("The api listens on port 8080.")),
    (Said("Sentry is gone, errors go to GlitchTip."), Said("Errors are reported to Sentry.")),
    (Said("We moved from Hetzner to OVH."), Said("We're moving from Fly to Hetzner.")),
    (
        filed("preferences", "Use spaces for indentation."),
        filed("rules-conventions", "Use tabs for indentation."),
    ),
    (
        wanted_by("ann", "I prefer spaces over tabs."),
        wanted_by("ann", "I prefer tabs over spaces."),
    ),
]

THE_SAME = [
    (
        Said("The reader skips rows without checking them."),
        Said("The reader skips rows with no check."),
    ),
    (Said("Never force-push to main."), Said("never force-push to main")),
    (Said("Before every commit, run make check."), Said("Run make check before every commit.")),
    (
        Said("Port 5433 is where the staging database listens."),
        Said("The staging database listens on port 5433."),
    ),
    (
        Said("Integration tests should never call the network."),
        Said("Integration tests must not call the network."),
    ),
    (Said("We use `uv` to manage dependencies."), Said("We use `uv` for dependencies.")),
    (
        Said("An error message should tell people what to do."),
        Said("Error messages should say what to do."),
    ),
    (Said("Every change needs 2 reviewers."), Said("Every change needs two reviewers.")),
    (Said("Always use uv, never pip."), Said("Use uv, not pip.")),
    (
        wanted_by("ann", "The owner likes to make small commits."),
        wanted_by("ann", "The owner prefers small commits."),
    ),
    (wanted_by("ann", "Small commits, please."), Said("Small commits, please.", {"person": "ann"})),
    (Said("The api was on Heroku until 2024."), Said("Until 2024 the api was on Heroku.")),
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def edges(embedder: LocalEmbedder, newer: Said, older: Said) -> list[tuple[str, str]]:
    """Returns (relation, reason) of what the pipeline finds between the two."""
    plain = {
        "kind": "fact",
        "author": "owner",
        "scope": "project",
        "project": "shop",
        "person": "ann",
        "category": "operations",
    }
    rows = [
        row(
            "observations",
            **plain
            | {"id": f"{n}", "text": one.text, "text_hash": one.text, "event_at": at}
            | one.changes,
        )
        for n, (one, at) in enumerate([(older, START), (newer, START + timedelta(days=3))])
    ]
    vectors = [
        row(
            "embeddings", text_hash=text, dimension=384, vector=embedder.encode_query(text).tolist()
        )
        for text in sorted({newer.text, older.text})
    ]
    found = find_edges(
        frame("observations", *rows), frame("embeddings", *vectors), empty("merges"), ()
    )
    return found.filter(pl.col("relation") != "doubtful").select("relation", "reason").rows()


@pytest.mark.parametrize(("newer", "older"), UNRELATED, ids=lambda said: said.text)
def test_unrelated_facts_neither_merge_nor_contradict_whichever_came_first(
    embedder: LocalEmbedder, newer: Said, older: Said
):
    assert edges(embedder, newer, older) == []
    assert edges(embedder, older, newer) == []


@pytest.mark.parametrize(("newer", "older"), OTHERWISE, ids=lambda said: said.text)
def test_what_cannot_both_hold_is_a_conflict(embedder: LocalEmbedder, newer: Said, older: Said):
    assert [relation for relation, _ in edges(embedder, newer, older)] == ["conflict"]


@pytest.mark.parametrize(("newer", "older"), THE_SAME, ids=lambda said: said.text)
def test_one_statement_in_two_wordings_merges(embedder: LocalEmbedder, newer: Said, older: Said):
    assert [relation for relation, _ in edges(embedder, newer, older)] == ["same"]


@pytest.mark.parametrize(
    ("newer", "older", "how"),
    [
        ("The api uses Redis, not Memcached.", "The api caches in Memcached.", "replaced"),
        ("We're moving from Fly to Hetzner.", "We deploy the shop to Fly.", "replaced"),
        ("We moved back from Hetzner to Fly.", "We're moving from Fly to Hetzner.", "reversed"),
        ("We're back on Jenkins.", "Jenkins is gone.", "reversed"),
        ("We moved back to Fly.io.", "The Fly app is gone.", "reversed"),
        (
            "We moved the blog back from Netlify to Fly.",
            "We moved the shop from Fly to Hetzner.",
            None,
        ),
        ("Never force-push to main.", "Always force-push to main.", "opposite"),
        ("The timeout is 60 seconds.", "The timeout is 30 seconds.", "other value"),
    ],
)
def test_a_conflict_says_of_which_kind_it_is(newer: str, older: str, how: str | None):
    assert find_conflict(newer, older) == how


@given(st.text(max_size=120), st.text(max_size=120))
def test_no_text_conflicts_with_itself_and_none_breaks_the_reader(one: str, other: str):
    assert find_conflict(one, one) is None
    find_conflict(one, other)
