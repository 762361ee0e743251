"""Requests: what is meant is accepted however it is written, and what cannot be used is refused in plain words."""

from typing import Any

import pytest

from memory_assets.errors import QuestionError
from memory_assets.schema import requests
from memory_assets.store.settings import read_settings


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"limit": "3"}, {"limit": 3}),
        ({"limit": 3.0}, {"limit": 3}),
        ({"probe": "true"}, {"probe": True}),
        ({"category": "operations"}, {"category": ("operations",)}),
        ({"category": ["operations", "projects"]}, {"category": ("operations", "projects")}),
        ({"project": None}, {"project": None}),
        ({"limit": 15, "profile": "deep"}, {"limit": 15}),
    ],
)
def test_what_is_meant_is_understood_however_it_is_written(
    given: dict[str, Any], meant: dict[str, Any]
):
    request = requests.RecallRequest.of("q", **given)
    assert {name: getattr(request, name) for name in meant} == meant


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (requests.RecallRequest, {}, "question is missing: What you want to know, in plain words."),
        (
            requests.RecallRequest,
            {"question": None},
            "question is missing: What you want to know, in plain words.",
        ),
        (requests.RecallRequest, {"question": 7}, "question must be text, not 7."),
        (
            requests.RecallRequest,
            {"question": "q", "limit": 11},
            "limit must be between 1 and 10 (15 with the profile deep), not 11.",
        ),
        (
            requests.RecallRequest,
            {"question": "q", "limit": 0},
            "limit must be between 1 and 15, not 0.",
        ),
        (
            requests.RecallRequest,
            {"question": "q", "limit": 16, "profile": "deep"},
            "limit must be between 1 and 15, not 16.",
        ),
        (
            requests.RecallRequest,
            {"question": "q", "limit": True},
            "limit must be a whole number, not True.",
        ),
        (
            requests.RecallRequest,
            {"question": "q", "probe": "perhaps"},
            "probe must be true or false, not 'perhaps'.",
        ),
        (requests.RecallRequest, {"question": "q", "recent": 3}, "recent must be a list, not 3."),
        (
            requests.RecallRequest,
            {"question": "q", "include": ["forgotten"]},
            "include must be one of held, stale, archived, cold, superseded, not 'forgotten'.",
        ),
        (
            requests.DecideRequest,
            {"decision": "approve", "proposals": []},
            "proposals must name at least one, not [].",
        ),
        (
            requests.FeedbackRequest,
            {"memory_ids": "mem_1"},
            "used is missing: Whether they helped.",
        ),
        (
            requests.RememberRequest,
            {"text": "x", "instead_of": "mem_0f3a5c", "priority": "high"},
            "priority cannot be combined with instead_of: a correction keeps the priority of the memory.",
        ),
        (requests.StatusRequest, {"line": True}, "There is no parameter 'line'; there are none."),
    ],
)
def test_what_cannot_be_used_is_said_in_words(
    model: type[requests.Request], given: dict[str, Any], words: str
):
    with pytest.raises(QuestionError) as refused:
        model(**given)
    assert str(refused.value) == words


def test_a_parameter_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(
        QuestionError,
        match="There is no parameter 'colour'; the parameters are question, project, ",
    ):
        requests.RecallRequest.of("q", colour="red")


@pytest.mark.parametrize("value", ["9" * 5_000, "x" * 5_000])
def test_a_refusal_shows_only_the_beginning_of_a_long_value(value: str):
    with pytest.raises(QuestionError, match="limit must be a whole number") as refused:
        requests.RecallRequest.of("q", limit=value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("model", "field"), [(requests.RecallRequest, "since"), (requests.TriggersRequest, "on")]
)
def test_a_time_that_cannot_be_read_names_its_parameter(model: type[Any], field: str):
    settings = read_settings()
    first = {"question": "q"} if model is requests.RecallRequest else {}
    request = model(**first, **{field: "soon"})
    with pytest.raises(QuestionError, match=f"^{field} must be a day .* not 'soon'"):
        (request.at if model is requests.RecallRequest else request.day)(
            settings.clock(), settings.zone
        )


def test_every_parameter_is_described_with_its_type():
    described = [one for model in _all_requests() for one in requests.parameters(model).values()]
    assert [
        one
        for one in described
        if not one.get("description", "").endswith(".") or "type" not in one
    ] == []


def _all_requests() -> list[type[requests.Request]]:
    from memory_assets.interfaces.verbs import VERBS

    return [verb.request for verb in VERBS]
