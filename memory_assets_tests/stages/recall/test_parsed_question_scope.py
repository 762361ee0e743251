"""Whose memories a question may see."""

from datetime import timedelta

import polars as pl
import pytest

from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.parsed_question import (
    Scope,
    in_person,
    is_out,
    parse_scope,
    states_as_of,
    without_names,
)
from memory_assets.stages.recall.results import Asker
from memory_assets_tests.factories import START, frame, row

PROJECTS, PERSONS = {"heron", "kiln"}, {"ines", "tomasz"}


def memories() -> pl.DataFrame:
    def one(id: str, **changes) -> dict:
        return row(
            "memories",
            id=id,
            **{"scope": "project", "project": "heron", "person": "ines", "state": "active"}
            | changes,
        )

    return frame(
        "memories",
        one("here"),
        one("there", project="kiln"),
        one("all", scope="everyone", project="kiln"),
        one("mine", scope="person"),
        one("his", scope="person", person="tomasz"),
    )


def read(
    question: str,
    person: str | None = "ines",
    project: str | None = "heron",
    filters: Filters = Filters(),
) -> Scope:
    return parse_scope(question, Asker(START, project, person), filters, PROJECTS, PERSONS)


def ids(expression: pl.Expr) -> list[str]:
    return memories().filter(expression)["id"].to_list()


def test_anothers_preference_is_out_unless_they_ask_or_are_named():
    assert ids(is_out(read("Which editor do I use?"))) == ["his"]
    assert ids(is_out(read("Which editor do I use?", person="tomasz"))) == ["mine"]
    assert ids(is_out(read("Which editor does Tomasz use?"))) == ["mine"]
    assert ids(is_out(read("Which editor?", filters=Filters(person="tomasz")))) == ["mine"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Where is the blue kiln fired?", {"blue-kiln"}),
        ("Where is Blue_Kiln's pipeline?", {"blue-kiln"}),
        ("Where is a blue, old kiln?", set()),
        ("Where is the blue kiln-room?", set()),
    ],
)
def test_a_project_is_named_with_spaces_for_hyphens(question: str, named: set[str]):
    scope = parse_scope(question, Asker(START, None, None), Filters(), {"blue-kiln", "heron"}, ())
    assert scope.projects == named


def test_what_was_replaced_later_stood_at_the_time_asked_about():
    found = frame(
        "memories",
        row("memories", id="old", state="superseded", superseded_by="new", first_event_at=START),
        row("memories", id="new", state="active", first_event_at=START + timedelta(days=30)),
    )
    then = states_as_of(found, Filters(until=START + timedelta(days=10)))
    assert dict(then.select("id", "state").rows()) == {"old": "active", "new": "active"}
    assert states_as_of(found, Filters(until=START + timedelta(days=40)))["state"].to_list() == [
        "superseded",
        "active",
    ]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which editor do I use?", "Which editor do Ines use?"),
        ("What is my editor?", "What is Ines's editor?"),
        ("Which port is used?", "Which port is used?"),
    ],
)
def test_my_and_i_become_a_name(question: str, asked: str):
    assert in_person(question, "ines") == asked
    assert in_person(question, None) == question


def test_a_projects_name_is_taken_out_unless_nothing_else_is_left():
    assert without_names("Where does kiln's pipeline run?", {"kiln"}) == "Where does pipeline run?"
    assert without_names("kiln", {"kiln"}) == "kiln"
    assert without_names("the git-sync-like thing", {"git-sync"}) == "the git-sync-like thing"
