"""A stated change names what is gone and what came, next to each other; ideas, questions and figures of speech change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.english.changes import read_changes, read_state_changes

STATED = [
    ("The api now uses Redis, not Memcached.", "memcached", "redis"),
    ("We moved from Jenkins to Buildkite for the deploy pipeline.", "jenkins", "buildkite"),
    ("The project was upgraded from Python 3.11 to Python 3.12.", "python 3.11", "python 3.12"),
    ("CI no longer uses Jenkins; it runs on Buildkite.", "jenkins", "buildkite"),
    ("Use uv for dependencies instead of pip.", "pip", "uv"),
    ("Dont use pip, use uv.", "pip", "uv"),
    ("Always use `uv`, never `pip`.", "pip", "uv"),
    ("Use pnpm for the frontend, not npm.", "npm", "pnpm"),
    ("I prefer tabs over spaces.", "spaces", "tabs"),
    ("We replaced Webpack with Vite.", "webpack", "vite"),
    ("Webpack was replaced by Vite.", "webpack", "vite"),
    ("Staging is now on port 5433 (was 5432).", "5432", "5433"),
    ("We dropped Heroku in favour of Fly.", "heroku", "fly"),
    ("We moved off Heroku to Fly.", "heroku", "fly"),
    ("Use GitHub Actions rather than Jenkins.", "jenkins", "github actions"),
    ("The default branch was renamed from master to main.", "master", "main"),
]


@pytest.mark.parametrize(("text", "gone", "came"), STATED)
def test_a_stated_change_names_what_is_gone_and_what_came(text: str, gone: str, came: str):
    assert [(change.gone, change.came) for change in read_changes(text)] == [(gone, came)]


@pytest.mark.parametrize(
    "text",
    [
        "What if we moved from Jenkins to Buildkite?",
        "We could use Redis instead of Memcached.",
        "I wonder whether to use uv rather than pip.",
        "If the api used Redis, not Memcached, it would be faster.",
        "The port is not 5432.",
        "In the release notes, never mention the tools.",
        "Do not restart Memcached at noon.",
        "Make it fast, not just correct.",
        "It reads from the queue and writes to the log.",
        "The default value changed.",
        "We use it rather than that.",
        "The hook is allegedly never attached.",
    ],
)
def test_an_idea_a_denial_and_a_figure_of_speech_change_nothing(text: str):
    assert read_changes(text) == ()


@given(
    st.text(
        alphabet="abc from to not instead of , . ` ( ) use is replaced by with over prefer 5",
        max_size=120,
    )
)
def test_nothing_replaces_itself(text: str):
    assert all(
        change.gone != change.came and change.gone and change.came for change in read_changes(text)
    )


@pytest.mark.parametrize(
    ("text", "gone", "came"),
    [
        ("We're moving from Fly to Hetzner.", "fly", "hetzner"),
        ("We've switched the team chat from Slack over to Zulip.", "slack", "zulip"),
        ("We decided to migrate from MySQL to Postgres.", "mysql", "postgres"),
        ("We switched to pnpm from npm.", "npm", "pnpm"),
        ("Fly is gone.", "fly", ""),
        ("The Fly app is gone, fly.toml too.", "fly", ""),
        ("Good news, the Slack workspace has been retired.", "slack", ""),
        ("CI no longer runs on CircleCI.", "circleci", ""),
        ("As of today we no longer use Jira.", "jira", ""),
        ("We don't use yarn any more.", "yarn", ""),
        ("Deploys don't go to Heroku anymore.", "heroku", ""),
        ("We dropped Poetry.", "poetry", ""),
        ("We moved everything off AWS.", "aws", ""),
        ("We moved from Fly to our own machine.", "fly", ""),
        ("We're back on Fly.", "", "fly"),
        ("We moved back to Fly last week.", "", "fly"),
        ("We moved back from Hetzner to Fly.", "hetzner", "fly"),
    ],
)
def test_a_change_of_state_can_name_only_what_is_gone_or_what_is_back(
    text: str, gone: str, came: str
):
    assert [(change.gone, change.came) for change in read_state_changes(text)] == [(gone, came)]


@pytest.mark.parametrize(
    "text",
    [
        "We're thinking of moving from Fly to Hetzner.",
        "We want to move from Fly to Hetzner.",
        "Don't move from Fly to Hetzner.",
        "We haven't moved from Fly to Hetzner.",
        "We'll move from Fly to Hetzner.",
        "We're moving from Fly to Hetzner next month.",
        "For now we moved from Fly to Hetzner.",
        "Once we've moved from Fly to Hetzner, delete the app.",
        "Their shop moved from Fly to Hetzner.",
        "Nobody moved from Fly to Hetzner.",
        "We dropped Jenkins for the docs.",
        "The exporter is no longer used in the tests.",
        "The counter slowly moves from 13 to 27.",
        "Callum told me we moved from Fly to Hetzner.",
        "Is Fly gone?",
        "If Fly is gone, use the backup.",
        "When Fly is gone, we need another host.",
        "Fly is down today.",
        "Fly isn't gone.",
        "Redis is gone again, restart it.",
        "The error is gone.",
        "The Fly logs are gone.",
        "The Jenkins job for the docs is gone.",
        "I dropped Redis from the compose file.",
        "The old parser no longer fails.",
    ],
)
def test_a_plan_a_denial_hearsay_and_a_fault_of_the_moment_are_no_change_of_state(text: str):
    assert read_state_changes(text) == ()
