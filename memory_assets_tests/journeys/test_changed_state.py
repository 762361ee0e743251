"""What the owner says has changed is no longer told as the present, in any order of arrival; no model is used."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import write_atomically
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.friction.transcripts import Session, Turn

PORT = "The api listens on port 8080, bound to localhost."
DATABASE = "Orders are stored in MySQL, schema shop."
PACKAGES = "Always use yarn in the frontend."
CHAT = "Deploy notices go to Slack, channel #deploys."
CI = "CI runs on Jenkins, job deploy-all on box ci-1."
HOST = "We deploy the kiln to Fly.io, app kiln-lhr, region lhr."
HEROKU = "We deploy the dale to Heroku, app dale-eu."
REASON = "The MySQL bill is 61 dollars."

BEFORE = {
    "shop": (DATABASE, REASON),
    "mill": (PACKAGES, PORT),
    "desk": (CHAT, CI),
    "kiln": (HOST,),
    "dale": (HEROKU,),
}
AFTER = {
    "shop": ("We migrated the database from MySQL to Postgres.",),
    "mill": ("We don't use yarn any more.", "The api no longer listens on port 8080."),
    "desk": (
        "The Slack workspace is gone.",
        "We've switched from Jenkins to Buildkite, the builds were too slow.",
    ),
    "kiln": (
        "We're thinking of moving from Fly to Hetzner.",
        "If Fly is gone, use the backup.",
        "Fly is down today.",
    ),
    "dale": ("We moved from Heroku to Render.",),
}
BACK = {"dale": ("We moved back from Render to Heroku.",)}
REPLY = "We moved from Fly to Hetzner. The Fly app is gone."
"""The assistant's word changes nothing."""


def write(sources: Path, days_ago: int, said: dict[str, tuple[str, ...]]) -> None:
    began = NOW.astimezone(UTC) - timedelta(days=days_ago)
    for project, lines in said.items():
        asked = (
            "Show me the last commit.",
            *lines,
            "Read the notes.",
            "Which tests ran?",
            "Commit that.",
            "Thanks, push it.",
        )
        turns = [
            turn
            for line in asked
            for turn in (("mira", line), ("agent", REPLY if line in lines else "Done."))
        ]
        dated = tuple(
            Turn(_at(began, number), role, text) for number, (role, text) in enumerate(turns)
        )
        session = Session(f"{project}-{days_ago}", "claude_code", project, dated)
        write_atomically(sources / session.path, session.content)


def _at(began: datetime, number: int) -> datetime:
    return began + timedelta(minutes=number)


def states(store: Store) -> dict[str, str]:
    facts = store.tables.read("memories").filter(pl.col("kind") == "fact")
    return dict(facts.select("text", "state").iter_rows())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that took in the later sessions first."""
    root = tmp_path_factory.mktemp("changed")
    settings = read_settings(
        data=root / "store", sources=str(root / "sources"), owner="mira", timezone="UTC", now=NOW
    )
    store = open_store(settings)
    for days_ago, said in ((2, BACK), (3, AFTER), (6, BEFORE)):
        write(root / "sources", days_ago, said)
        launch.ingest(store, reflect=False)
    return store


def test_what_the_owner_says_has_changed_supersedes_what_said_so_before(store: Store):
    found = states(store)
    assert {found[text] for text in (DATABASE, PACKAGES, PORT, CHAT, CI)} == {"superseded"}
    assert all(found[text] == "active" for text in (*AFTER["shop"], *AFTER["mill"], *AFTER["desk"]))


def test_plans_conditions_moments_and_the_assistants_word_change_nothing_and_history_stays(
    store: Store,
):
    found = states(store)
    assert (found[HOST], found[REASON]) == ("active", "active")


def test_a_move_back_makes_the_first_state_current_again(store: Store):
    found = states(store)
    assert (found[HEROKU], found[AFTER["dale"][0]], found[BACK["dale"][0]]) == (
        "active",
        "superseded",
        "active",
    )


@pytest.mark.parametrize(
    ("project", "question", "change"),
    [
        ("shop", "where are orders stored", "We migrated the database from MySQL to Postgres."),
        (
            "desk",
            "where does CI run",
            "We've switched from Jenkins to Buildkite, the builds were too slow.",
        ),
    ],
)
def test_a_question_about_what_was_replaced_is_answered_by_the_change(
    store: Store, project: str, question: str, change: str
):
    agent = MemoryAgent(store.settings)
    (first, *others) = agent.recall(question, project=project, probe=True).results
    assert first.text == change
    assert not {DATABASE, CI} & {one.text for one in others}
    assert change in agent.answer(question, project=project, probe=True).text.splitlines()[0]
