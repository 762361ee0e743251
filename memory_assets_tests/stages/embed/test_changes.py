"""A stated change names what is gone and what came, next to each other; ideas, questions and figures of speech change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.changes import read_changes

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


def test_what_stands_in_two_sentences_is_no_change():
    assert read_changes("We moved from Jenkins. To Buildkite goes nothing yet.") == ()


@given(st.text(alphabet="abc from to not instead of , . ` ( ) use is replaced by with over prefer 5", max_size=120))
def test_nothing_replaces_itself(text: str):
    assert all(change.gone != change.came and change.gone and change.came for change in read_changes(text))
