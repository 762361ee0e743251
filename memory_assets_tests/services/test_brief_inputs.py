"""What was in progress when the owner's sessions ended."""

from datetime import timedelta

from memory_assets.services.brief_inputs import open_work
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
        ended = {"started_at": START, "ended_at": START + timedelta(hours=number), "day": DAY, "status": "observed"}
        windows.append(row("windows", source_id=f"s{number}", project=project, person=person, **about, **ended))
        answers.append(row("observer_answers", **about, answer="a", current_task=task, suggested_response="Go on."))
    write(store, "windows", "all", *windows)
    write(store, "observer_answers", TODAY, *answers)
    return Store(store.settings.model_copy(update={"owner": "mira"}), store.root)


def test_the_last_session_of_each_project_says_what_is_open_the_latest_first():
    store = store_with(
        ("shop", "mira", "Old"), ("shop", "mira", "Move to uv"), ("tide", "mira", "Ship it"), ("cms", "ana", "Hers")
    )
    assert [(work.project, work.task, work.next_step, work.day) for work in open_work(store)] == [
        ("tide", "Ship it", "Go on.", DAY),
        ("shop", "Move to uv", "Go on.", DAY),
    ]


def test_a_project_whose_last_session_left_nothing_open_has_no_line():
    assert open_work(store_with(("shop", "mira", "Old"), ("shop", "mira", None))) == ()


def test_without_a_model_nothing_is_known_to_be_open():
    assert open_work(small_store()) == ()
