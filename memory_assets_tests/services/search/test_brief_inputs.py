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
from memory_assets_tests.factories import START, message, row
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
        ("tide", "mira", "Ship it"),
        ("cms", "ana", "Hers"),
    )
    assert [(work.project, work.task, work.next_step, work.day) for work in open_work(store)] == [
        ("tide", "Ship it", "Go on.", DAY),
        ("shop", "Move to uv", "Go on.", DAY),
    ]


def test_without_a_model_the_last_request_and_the_state_of_each_branch_are_known(monkeypatch):
    store = store_with(*[("shop", "mira", None)] * 3, ("shop", "ana", None))
    windows = store.tables.read("windows").with_columns(
        branch=pl.Series(["main", "main", "tills", "main"])
    )
    store.tables.write("windows", "all", windows)
    texts = ("Add a till to the second hall", "The till is added, not pushed yet")
    said = [
        message(f"{text} ({n})", 2 * n + place, author=author, window_id=f"{n:064d}", day=DAY)
        for n in range(4)
        for place, (author, text) in enumerate(zip(("owner", "assistant"), texts, strict=True))
    ]
    write(store, "messages", TODAY, *said)
    assert [(work.branch, work.request[-2], work.state) for work in open_work(store)] == [
        ("tills", "2", f"Assistant: “{texts[1]} (2)”"),
        ("main", "1", f"Assistant: “{texts[1]} (1)”"),
    ]


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


def end_with(
    task: str | None,
    reply: str,
    *,
    asked: str = "Add a till to the second hall",
    title: str | None = None,
) -> Store:
    """A store with one session of the model's task, a request and a reply."""
    store = store_with(("shop", "mira", task))
    windows = store.tables.read("windows")
    store.tables.write(
        "windows",
        "all",
        windows.with_columns(title=pl.lit(title, pl.String), branch=pl.lit("tills")),
    )
    said = [
        message(text, n, author=who, window_id="0" * 64, day=DAY)
        for n, (who, text) in enumerate((("owner", asked), ("assistant", reply)))
    ]
    write(store, "messages", TODAY, *said)
    return store


def test_a_request_that_cannot_be_understood_alone_is_not_quoted():
    (one,) = open_work(
        end_with(
            None,
            "Till added, not pushed.",
            asked="let's do both of them with option A",
            title="Add tills",
        )
    )
    assert (one.title, one.request, one.state) == (
        "Add tills",
        "",
        "Assistant: “Till added, not pushed.”",
    )


def test_a_task_that_is_over_is_left_out():
    store = end_with("Add a till; the last test is committed.", "The till is added.")
    answers = store.tables.read("observer_answers", [TODAY])
    store.tables.write(
        "observer_answers", TODAY, answers.with_columns(suggested_response=pl.lit(None, pl.String))
    )
    assert open_work(store) == ()


def test_a_state_that_the_next_step_repeats_is_left_out():
    store = end_with("Add a till to the second hall.", "I'll push the till branch and open the PR.")
    answers = store.tables.read("observer_answers", [TODAY])
    step = pl.lit("Push the till branch and open the PR.")
    store.tables.write("observer_answers", TODAY, answers.with_columns(suggested_response=step))
    (one,) = open_work(store)
    assert (one.task, one.state, one.next_step) == (
        "Add a till to the second hall.",
        "",
        "Push the till branch and open the PR.",
    )


def test_refused_lines_are_known_by_project_as_proposed_and_as_said():
    store = small_store()
    texts = {"p-1": "The owner said: “use tabs”.", "p-2": "Use uv."}
    write(
        store,
        "proposals",
        TODAY,
        *(
            row("proposals", proposal_id=id, project="shop", text=text)
            for id, text in texts.items()
        ),
    )
    refused = row("decisions", proposal_id="p-1", state="rejected", text="Use tabs.")
    write(store, "decisions", "all", refused, row("decisions", proposal_id="p-2"))
    assert refused_lines(store) == {"shop": ["Use tabs.", "The owner said: “use tabs”."]}
