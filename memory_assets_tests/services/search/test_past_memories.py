"""Memories as of a day are what the table was after the run of that day, apart from what was forgotten since."""

import json
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import memory_assets
from memory_assets.errors import TableError
from memory_assets.interfaces.cli import app as cli
from memory_assets.memory import MemoryAgent
from memory_assets.runs.materialise import materialise
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.store.ledger import ARCHIVED, RESTORED
from memory_assets.store.store import open_store
from memory_assets_tests.factories import row
from memory_assets_tests.simulated import advance
from memory_assets_tests.small_store import small_store, write
from memory_assets_tests.stages.capture.sessions import (
    START,
    assistant,
    dialogue,
    lines,
    transcript,
    user,
)

DAY = START.date()
UV = "Always use uv instead of pip to install packages in this repository."
PORT = "The staging database listens on port 5433."
POSTGRES = "We decided to use Postgres for the orders, because it has transactions."
SAID = [
    [UV, POSTGRES, "We decided to use Redis for the sessions, because it is fast."],
    [UV, PORT],
    [
        "Never push to main of this repository.",
        "No, use poetry instead of uv to install packages in this repository.",
    ],
    ["I prefer short commit messages in this repository."],
]
"""What the owner says on each day."""


class Days:
    """A store that lives from day to day, and what its memories were after the run of each."""

    def __init__(self, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._sources, self._monkeypatch = sources, monkeypatch
        self.tables: dict[date, pl.DataFrame] = {}
        monkeypatch.setenv("MEMORY_SOURCES", str(sources))
        monkeypatch.setenv(
            "MEMORY_TTL_DAYS", '{"projects": 1, "operations": 1, "rules-conventions": 30}'
        )

    def agent(self, number: int, hours: float = 9) -> MemoryAgent:
        """The store on a day after the start."""
        self._monkeypatch.setenv("MEMORY_NOW", str(START + timedelta(days=number, hours=hours)))
        return MemoryAgent()

    def end(self, number: int) -> MemoryAgent:
        """Reads what was said on the day, and builds what is due."""
        agent, name = self.agent(number, 10), f"session-{number}"
        records = [
            one
            for turn, text in enumerate(SAID[number])
            for one in (
                user(name, 2 * turn, text, number * 1440 + turn),
                assistant(
                    name, 2 * turn + 1, "Understood, it is done.", number * 1440 + turn + 0.5
                ),
            )
        ]
        rest = dialogue(name, 6, first=2 * len(SAID[number]), minutes=number * 1440 + 5)
        transcript(self._sources, name).write_bytes(lines(*records, *rest))
        advance(open_store(agent.settings))
        self.tables[DAY + timedelta(number)] = agent.store.tables.read("memories")
        return agent


def id_of(agent: MemoryAgent, text: str) -> str:
    return agent.store.tables.read("memories").filter(pl.col("text") == text)["id"].item()


@pytest.mark.slow
def test_each_day_of_a_later_store_equals_the_run_of_that_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    days = Days(tmp_path / "sources", monkeypatch)
    days.end(0)
    days.agent(1, 8).recall("which packages do we install")
    agent = days.agent(1, 8.5)
    agent.remember("Maria reviews every release.")
    days.end(1)
    agent = days.agent(2, 8)
    agent.remember(
        "Maria and Omar review every release.",
        instead_of=id_of(agent, "Maria reviews every release."),
    )
    agent.recall("port of staging")
    agent.store.append_event(ARCHIVED, "weekly", {"memory_ids": [id_of(agent, POSTGRES)]})
    days.end(2)
    agent = days.agent(3, 8)
    agent.store.append_event(RESTORED, "mira", {"memory_ids": [id_of(agent, POSTGRES)]})
    agent.recall("what does Maria do")
    days.end(3)
    last = days.agent(9)
    materialise(last.store, [TABLES["memories"]], [WHOLE])
    states = set[str]()
    for day, then in days.tables.items():
        assert_frame_equal(last.scan("memories", as_of=day).collect(), then)
        states |= set(then["state"])
    assert states >= {"active", "stale", "archived", "superseded"}
    last.forget(PORT, apply=True)
    for day, then in days.tables.items():
        found = memory_assets.scan("memories", as_of=day.isoformat()).collect()
        assert PORT not in str(found.to_dicts())
        assert_frame_equal(found, then.filter(~pl.col("text").str.contains("5433")))


def observed() -> MemoryAgent:
    """A store with a fact of the first day and one of the day after, now two days later."""
    store = small_store()
    for number, text in enumerate((UV, PORT)):
        on = DAY + timedelta(number)
        fact = row(
            "observations",
            id=f"fact-{number}",
            text=text,
            kind="fact",
            gate="allow",
            day=on,
            session_id="s",
        )
        write(store, "observations", str(on), fact | {"event_at": START + timedelta(number)})
    return MemoryAgent()


def test_a_day_before_the_first_fact_has_no_rows_and_another_table_or_a_day_ahead_is_refused():
    agent = observed()
    assert [
        agent.scan("memories", as_of=DAY + timedelta(n)).collect().height for n in (-1, 0, 1)
    ] == [0, 1, 2]
    assert agent.scan("memories", as_of=agent.settings.today()).collect().height == 2
    assert agent.scan("observations").collect().height == 2
    with pytest.raises(
        TableError, match="Only the table 'memories' can be read as of a day, not 'observations'"
    ):
        agent.scan("observations", as_of=DAY)
    with pytest.raises(TableError, match="The day 2026-09-02 has not begun; today is 2026-09-01"):
        agent.scan("memories", as_of="2026-09-02")
    with pytest.raises(TableError, match="'yesterday' is not a day"):
        agent.scan("memories", as_of="yesterday")


def test_the_command_shows_and_exports_the_memories_of_a_day(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    observed()
    assert cli.main(["data", "show", "memories", "--as-of", str(DAY)]) == 0
    shown = capsys.readouterr().out
    assert UV in shown
    assert PORT not in shown
    assert (
        cli.main(
            ["data", "export", "memories", "--as-of", str(DAY), "-o", str(tmp_path / "then.jsonl")]
        )
        == 0
    )
    assert [
        json.loads(line)["text"] for line in (tmp_path / "then.jsonl").read_text().splitlines()
    ] == [UV]
    capsys.readouterr()
    assert cli.main(["data", "show", "memories", "--as-of", str(DAY), "--day", str(DAY)]) == 2
    assert "Give --day or --as-of, not both." in capsys.readouterr().err
    assert cli.main(["data", "export", "--all", str(tmp_path / "all"), "--as-of", str(DAY)]) == 2
    assert "--as-of goes with the table memories" in capsys.readouterr().err
