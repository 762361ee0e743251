"""A problem that was solved later the same day is left out; causes, solutions and rules stay."""

from memory_assets.stages.reflect.background import find_resolved

PROBLEM = "The gauge poller crashes with a KeyError in gauges.py."
SOLUTION = "Fixed the KeyError of the gauge poller in gauges.py."


def facts(*texts: str, **changes) -> list[dict]:
    plain = {"category": "operations", "author": "assistant", "priority": "medium"}
    return [
        {"id": str(number), "text": text, **plain, **changes} for number, text in enumerate(texts)
    ]


def test_a_problem_solved_later_is_left_out():
    assert find_resolved(facts(PROBLEM, SOLUTION)) == {"0": "1"}


def test_a_problem_that_came_back_after_the_solution_stays():
    assert find_resolved(facts(SOLUTION, PROBLEM)) == {}


def test_a_problem_nobody_solved_stays_beside_the_solution_of_another():
    assert find_resolved(facts("The release build hangs on Windows.", SOLUTION)) == {}
