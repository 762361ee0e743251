"""What can be asked: names and choices agree with the rest, and arguments are understood or refused in words."""

from typing import Any, get_args

import pytest

from memory_assets.errors import QuestionError
from memory_assets.interfaces import dispatcher as asking
from memory_assets.interfaces import verbs
from memory_assets.interfaces.verbs import DECIDE, RECALL, VERBS, tool_of, verb_of
from memory_assets.interfaces.views.registry import DRAWINGS
from memory_assets.schema.records import Category, Priority, Sentiment, Trigger
from memory_assets.stages.recall.profiles import PROFILES
from memory_assets.stages.recall.results import CORPORA, ON_REQUEST


def test_the_choices_are_those_of_the_memory_itself():
    assert (get_args(Category), get_args(Priority), get_args(Trigger)) == (verbs.CATEGORIES, verbs.PRIORITIES, verbs.TRIGGERS)
    assert get_args(Sentiment) == verbs.SENTIMENTS
    assert (ON_REQUEST, CORPORA, (*PROFILES, "auto")) == (verbs.STATES, verbs.CORPORA, verbs.PROFILES)


def test_each_verb_can_be_asked_and_drawn():
    names = {verb.name for verb in VERBS}
    assert names == set(asking._ASKED) == set(DRAWINGS)


def test_a_tool_is_found_by_its_name_or_the_one_that_agents_guess():
    assert tool_of("memory_briefing") == tool_of("memory_brief") == verb_of("brief")
    assert tool_of("memory_sing") is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"limit": "3"}, {"limit": 3}),
        ({"limit": 3.0}, {"limit": 3}),
        ({"probe": "true"}, {"probe": True}),
        ({"category": "operations"}, {"category": ["operations"]}),
        ({"category": ["operations", "projects"]}, {"category": ["operations", "projects"]}),
        ({"project": None}, {}),
    ],
)
def test_what_is_meant_is_understood_however_it_is_written(given: dict[str, Any], meant: dict[str, Any]):
    assert RECALL.understand({"question": "q", **given}) == {"question": "q", **meant}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "recall needs the argument 'question'"),
        ({"question": None}, "recall needs the argument 'question'"),
        ({"question": 7}, "'question' must be text, not 7"),
        ({"question": "q", "colour": "red"}, "recall knows no argument 'colour'. It takes question, profile, "),
        ({"question": "q", "limit": 11}, "'limit' cannot be 11; choose from 1 to 10."),
        ({"question": "q", "limit": 0}, "'limit' cannot be 0; choose from 1 to 10."),
        ({"question": "q", "limit": True}, "'limit' must be a whole number, not True."),
        ({"question": "q", "limit": "9" * 5_000}, "'limit' must be a whole number"),
        ({"question": "q", "probe": "perhaps"}, "'probe' must be true or false, not 'perhaps'."),
        ({"question": "q", "category": "cooking"}, "There is no category 'cooking'; choose from preferences, "),
        ({"question": "q", "include": ["forgotten"]}, "There is no include 'forgotten'; choose from held, "),
    ],
)
def test_what_cannot_be_used_is_said_in_words(given: dict[str, Any], told: str):
    with pytest.raises(QuestionError) as refused:
        RECALL.understand(given)
    assert told in str(refused.value)
    assert len(str(refused.value)) < 500


def test_half_a_character_becomes_a_question_mark():
    """JSON can hold one half of a surrogate pair, which no file and no digest can."""
    assert RECALL.understand({"question": "a \ud83d b"}) == {"question": "a ? b"}


def test_a_schema_names_what_is_needed_and_what_may_be_chosen():
    schema = DECIDE.schema()
    assert (schema["required"], schema["additionalProperties"]) == (["decision", "proposals"], False)
    assert schema["properties"]["decision"]["enum"] == ["approve", "reject", "edit"]
    assert schema["properties"]["proposals"]["items"] == {"type": "string"}
    assert RECALL.schema()["properties"]["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 10,
        "description": "At most so many results.",
    }
