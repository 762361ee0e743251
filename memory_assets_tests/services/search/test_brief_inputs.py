"""What the owner's last sessions left open, by project and branch."""

from datetime import timedelta

import polars as pl

from memory_assets.services.search.brief_inputs import (
    STILL_OPEN_FOR,
    active_projects,
    open_work,
    refused_lines,
)
from memory_assets.stages.brief.briefing import ActiveProject
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import DAY, small_store, write

TODAY = DAY.isoformat()


def store_with(*sessions: tuple[str, str, str | None]) -> Store:
    """A store with a session after the other: project, person, current task."""
    store = small_store()
    windows, answers = [], []
    for number, (project, person, task) in enumerate(sessions):
        about = {"window_id": f"{number:064d}", "session_id": f"s{number}"}
        ended = {
            "started_at": START,
            "ended_at": START + timedelta(hours=number),
            "day": DAY,
            "status": "observed",
        }
        windows.append(
            row("windows", source_id=f"s{number}", project=project, person=person, **about, **ended)
        )
        answers.append(
            row(
                "observer_answers",
                **about,
                answer="a",
                current_task=task,
                suggested_response="Go on.",
            )
        )
    write(store, "windows", "all", *windows)
    write(store, "observer_answers", TODAY, *answers)
    return Store(store.settings.model_copy(update={"owner": "mira"}), store.root)


def test_the_last_session_of_each_project_says_what_is_open_the_latest_first():
    store = store_with(
        ("shop", "mira", "Old"),
        ("shop", "mira", "Move to uv"),
        ("tide", "mira", "Ship"),
        ("cms", "ana", "X"),
    )
    assert [(work.project, work.task, work.next_step, work.day) for work in open_work(store)] == [
        ("tide", "Ship", "Go on.", DAY),
        ("shop", "Move to uv", "Go on.", DAY),
    ]


def segment(number: int, **quotes: str) -> dict:
    """A segment with quotes by source."""
    ids = [f"{source}-{number}" for source in quotes]
    return row(
        "segments", segment_id=f"g{number}", window_id=f"{number:064d}", day=DAY, narrative="",
        quotes=[*quotes.values()], quote_sources=[*quotes], quote_ids=ids,
    )  # fmt: skip


def test_without_a_model_the_first_request_and_the_last_words_of_each_branch_are_known():
    store = store_with(*[("shop", "mira", None)] * 3, ("shop", "ana", None))
    windows = store.tables.read("windows").with_columns(
        branch=pl.Series(["main", "main", "tills", "main"])
    )
    store.tables.write("windows", "all", windows)
    said = [segment(n, request=f"Add till {n}.", state=f"Till {n} is added.") for n in range(4)]
    write(store, "segments", TODAY, *said)
    assert [(work.branch, work.request, work.state) for work in open_work(store)] == [
        ("tills", "Owner: “Add till 2.”", "Assistant: “Till 2 is added.”"),
        ("main", "Owner: “Add till 1.”", "Assistant: “Till 1 is added.”"),
    ]


def test_a_summary_of_the_sessions_own_model_says_more_than_its_last_words():
    store = store_with(("shop", "mira", None))
    said = segment(0, request="Add a till.", state="Let me look.", summary="Added; docs next.")
    write(store, "segments", TODAY, said)
    assert [work.state for work in open_work(store)] == ["Assistant (summary): “Added; docs next.”"]


def test_what_was_left_open_weeks_before_the_last_session_is_not_shown():
    store = store_with(("shop", "mira", "Old"), ("shop", "mira", "New"))
    late = START + STILL_OPEN_FOR + timedelta(days=1)
    windows = store.tables.read("windows").sort("window_id")
    store.tables.write(
        "windows",
        "all",
        windows.with_columns(branch=pl.Series(["a", "b"]), ended_at=pl.Series([START, late])),
    )
    assert [work.task for work in open_work(store)] == ["New"]


def test_active_projects_are_those_of_the_owners_last_two_weeks_the_latest_first():
    store = store_with(
        *[("shop", "mira", None)] * 2,
        ("tide", "mira", None),
        ("", "mira", None),
        ("cms", "ana", None),
    )
    windows = store.tables.read("windows")
    old = windows.filter(session_id="s0").with_columns(
        project=pl.lit("old"),
        session_id=pl.lit("s9"),
        window_id=pl.lit("w9"),
        ended_at=pl.col("ended_at") - STILL_OPEN_FOR - timedelta(days=1),
    )
    store.tables.write("windows", "all", pl.concat([windows, old]))
    assert active_projects(store) == (
        ActiveProject("tide", 1, DAY, DAY),
        ActiveProject("shop", 2, DAY, DAY),
    )
    assert active_projects(Store(store.settings, store.root / "nowhere")) == ()


def test_a_task_that_is_over_is_left_out_and_so_is_a_step_that_was_done():
    store = store_with(("shop", "mira", "Add a till; the last test is committed."))
    answers = store.tables.read("observer_answers", [TODAY])
    step = pl.lit("All tests are green. Both are reviewed, and PR #9 is ready.")
    store.tables.write("observer_answers", TODAY, answers.with_columns(suggested_response=step))
    assert open_work(store) == ()
    answers = answers.with_columns(suggested_response=step, current_task=pl.lit("Add a till."))
    store.tables.write("observer_answers", TODAY, answers)
    (work,) = open_work(store)
    assert work.next_step == "Both are reviewed, and PR #9 is ready."


def test_refused_lines_are_known_by_project_as_proposed_and_as_said():
    store = small_store()
    texts = {"p-1": "The owner said: “use tabs”.", "p-2": "Use uv."}
    rows = (
        row("proposals", proposal_id=id, project="shop", text=text) for id, text in texts.items()
    )
    write(store, "proposals", TODAY, *rows)
    refused = row("decisions", proposal_id="p-1", state="rejected", text="Use tabs.")
    write(store, "decisions", "all", refused, row("decisions", proposal_id="p-2"))
    assert refused_lines(store) == {"shop": ["Use tabs.", "The owner said: “use tabs”."]}
