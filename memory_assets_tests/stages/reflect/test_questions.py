"""A model may merge and shorten what it was shown, and nothing else; an answer that is too long is asked for again, twice."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer, no_answer
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.questions import (
    ATTEMPTS,
    IS_UNREADABLE,
    PRESSURES,
    Question,
    condensed_by_model,
    needs_asking,
    open_question,
    parse_answer_bullets,
)
from memory_assets.stages.reflect.reflector import REFLECTOR, condense_subjects, weigh
from memory_assets.stages.reflect.subjects import DAY, WEEK, Subject, subjects_of_day
from memory_assets.text.short_ids import short_id
from memory_assets_tests.factories import PLAIN, START, frame, row

ON = date(2026, 8, 3)
NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
NOTHING_KNOWN = Background.of(frame("memories"))
PORTS = range(6380, 6420)


def fact(number: int, text: str, **changes) -> dict:
    plain = PLAIN | {
        "project": "tidewatch",
        "person": "mira",
        "tokens": 20,
        "event_at": START,
        "day": ON,
    }
    return row(
        "observations", id=f"{number:08x}-0000-5000-8000-000000000000", text=text, **plain | changes
    )


@pytest.fixture
def subject() -> Subject:
    """Forty facts about ports and one 🔴 of the owner: more than there is room for."""
    facts = [
        fact(port, f"Service number {port} listens on port {port} of the harbor.") for port in PORTS
    ]
    rule = fact(
        1,
        "Never open a port below 1024.",
        priority="high",
        author="owner",
        category="rules-conventions",
    )
    held = fact(2, "Perhaps the ports move to a file.", gate="hold")
    told = fact(3, "They wrote down who listens where.", kind="narrative", gate="hold")
    (found,) = subjects_of_day(ON, frame("observations", rule, *facts, held, told), NOTHING_KNOWN)
    return found


@pytest.fixture
def answers(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path / "answers")


def cite(*numbers: int) -> str:
    return f"[{', '.join(short_id(fact(number, '')['id']) for number in numbers)}]"


def short_answer() -> str:
    return f"- Services listen on the port of their number, 6380 and 6381 among them. {cite(6380, 6381)}"


def long_answer() -> str:
    return "\n".join(
        f"- Service number {port} listens on port {port} of the harbor. {cite(port)}"
        for port in PORTS
    )


def say(answers: AnswerStore, question: Question, text: str, *, stop: str = "end_turn") -> None:
    answers.write(
        StoredAnswer(question.key, ModelAnswer(text, "scripted-1", 1_000, 100, stop), NOW)
    )


def test_only_what_does_not_fit_is_asked_about(subject: Subject):
    assert needs_asking(subject)
    assert not needs_asking(replace(subject, room=None))
    assert not needs_asking(replace(subject, room=10_000))


def test_the_facts_to_tell_are_shown_with_their_ids_and_the_rest_apart(subject: Subject):
    asked = Question(subject, "scripted-1", memory_md="- Use uv.").request().material
    observations = asked[asked.index("quoted observations") :]
    assert (
        f"🔴 Never open a port below 1024. {cite(1)}" in observations
        and f"port 6419 of the harbor. {cite(6419)}" in observations
    )
    assert "Perhaps" not in observations and "They wrote" not in observations
    assert all(
        text in asked
        for text in (
            "quoted held observations",
            "Perhaps the ports",
            "quoted narratives",
            "They wrote",
        )
    )
    assert "quoted MEMORY.md" in asked and asked.endswith(f"into at most {subject.room} tokens.")


@pytest.mark.parametrize(
    "line",
    [
        "- Services listen on the port of their number.",
        f"- Services listen somewhere. [{short_id('ffffffff-0000-5000-8000-000000000000')}]",
        f"- Somebody else listens on 9999. {cite(6380)}",
        f"- {'Service after service listens. ' * 12}{cite(6380)}",
        f"- What was held is told. {cite(2)}",
        "Here is what I found:",
    ],
)
def test_a_line_that_nothing_bears_out_is_thrown_away(subject: Subject, line: str):
    assert parse_answer_bullets(line, subject) == []


def test_lines_merge_and_a_high_fact_of_a_day_is_told_even_if_the_model_leaves_it_out(
    subject: Subject,
):
    port, rule = parse_answer_bullets(short_answer(), subject)
    assert (port.text, port.priority, port.category) == (
        "Services listen on the port of their number, 6380 and 6381 among them.",
        "medium",
        "operations",
    )
    assert port.ids == (fact(6380, "")["id"], fact(6381, "")["id"])
    assert (rule.text, rule.priority) == ("Never open a port below 1024.", "high")
    assert [
        bullet.text for bullet in parse_answer_bullets(short_answer(), replace(subject, span=WEEK))
    ] == [port.text]


def test_a_line_cites_what_the_model_cited_for_it_and_names_may_stand_in_marks():
    texts = ("Build `docs/api.md` with `make docs`.", "Run `make docs` for docs/api.md.")
    facts = [fact(number, text) for number, text in enumerate(texts, 1)]
    ids = [row["id"] for row in facts]
    memory = row("memories", id=ids[0], observation_ids=ids, superseded_by=None)
    known = Background.of(frame("memories", memory))
    (merged,) = subjects_of_day(ON, frame("observations", *facts), known)
    (line,) = parse_answer_bullets(f"- (`make docs`) writes [docs/api.md]. {cite(2)}", merged)
    assert line.ids == (ids[1],)


def test_narratives_are_shown_whole_or_not_at_all(subject: Subject):
    told = ["It was short.", "It went on. " * 2_500, "It ended."]
    asked = Question(replace(subject, narratives=told), "scripted-1").request().material
    assert "It was short." in asked and "It went on" not in asked and "It ended." in asked


def test_an_answer_that_is_too_long_is_asked_for_again_with_growing_pressure_and_no_more_than_twice(
    subject: Subject, answers: AnswerStore
):
    question = Question(subject, "scripted-1")
    for level in range(ATTEMPTS):
        asked = open_question(question, answers)
        assert asked is not None and asked.level == level
        ending = ("", *PRESSURES)[level].partition("Aim")[2] or "tokens."
        assert asked.request().material.endswith(ending)
        say(answers, asked, long_answer())
    assert open_question(question, answers) is None


def test_a_short_answer_settles_it_and_is_told_with_what_it_cost(
    subject: Subject, answers: AnswerStore
):
    question = Question(subject, "scripted-1")
    say(answers, question, long_answer())
    second = open_question(question, answers)
    assert second is not None
    say(answers, second, short_answer())
    assert open_question(question, answers) is None
    told = condensed_by_model(question, answers, lambda answer: answer.output_tokens / 1_000)
    assert told is not None
    assert (told.level, told.reflector, told.answers) == (
        1,
        "scripted-1",
        (question.key.name, second.key.name),
    )
    assert (told.cost_usd, told.problem) == (0.2, None)
    (found,) = condense_subjects(DAY, [subject], NOTHING_KNOWN, lambda _: told).to_dicts()
    assert (
        found["text"].splitlines()[1].startswith("- 🟡 Services listen on the port of their number")
    )
    assert set(found["dropped_why"]) == {"left out", "held"}
    assert len(found["dropped_ids"]) + len(found["observation_ids"]) == len(subject.facts)


def test_where_no_answer_shrinks_everything_notable_is_kept_and_the_reason_told(
    subject: Subject, answers: AnswerStore
):
    question = Question(replace(subject, fact_tokens=weigh(subject.bullets) // 2), "scripted-1")
    for level in range(ATTEMPTS):
        say(answers, replace(question, level=level), long_answer())
    told = condensed_by_model(question, answers, lambda _: None)
    assert told is not None
    assert (told.bullets, told.level, told.problem) == (
        subject.bullets,
        2,
        "no answer was smaller than the facts",
    )


def test_an_answer_of_which_no_line_holds_is_asked_for_again_and_loses_nothing(
    subject: Subject, answers: AnswerStore
):
    question = Question(subject, "scripted-1")
    for level in range(ATTEMPTS):
        say(answers, replace(question, level=level), "I would rather not.")
    told = condensed_by_model(question, answers, lambda _: None)
    assert told is not None and (told.bullets, told.problem) == (
        subject.bullets,
        "no line of the answer holds",
    )


def test_a_refusal_is_not_asked_again_and_the_rules_tell_the_day(
    subject: Subject, answers: AnswerStore
):
    question = Question(subject, "scripted-1")
    say(answers, question, "", stop="refusal")
    assert open_question(question, answers) is None
    told = condensed_by_model(question, answers, lambda _: 0.5)
    assert told is not None
    assert (told.bullets, told.cost_usd, told.problem) == (
        [],
        0.5,
        "the answer ended early (refusal)",
    )
    (row,) = condense_subjects(DAY, [subject], NOTHING_KNOWN, lambda _: told).to_dicts()
    assert (row["cost_usd"], row["reflector"], bool(row["text"])) == (0.5, REFLECTOR, True)


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_that_reason(
    subject: Subject, answers: AnswerStore
):
    question = Question(subject, "scripted-1")
    assert question.fault_of(ModelAnswer("Sorry.", "m", 1, 1)) == IS_UNREADABLE
    say(answers, question, "Sorry.")
    second = open_question(question, answers)
    assert second is not None and "No line of your last answer" in second.request().material
    say(answers, second, long_answer())
    third = open_question(question, answers)
    assert third is not None
    assert f"room for {subject.room}. Aim for 8/10" in third.request().material
    answers.write(StoredAnswer(third.key, no_answer("m"), NOW, fault="is not JSON"))
    assert open_question(question, answers) is None
