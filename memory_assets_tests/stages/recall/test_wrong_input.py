"""Whatever is asked gets an answer or an error that says what to do; nothing else ever comes out."""

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.errors import MemoryAssetsError, QuestionError
from memory_assets.interfaces.cli import app as cli
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import State
from memory_assets.stages.recall.results import Answer
from memory_assets_tests.stages.recall.leaving_out import build

START = datetime(2026, 1, 1, tzinfo=UTC)

ODD = {
    "a hundred thousand characters": "why does the postgres port differ " * 3_000,
    "one word of a hundred thousand": "x" * 100_000,
    "control characters": "post\x00gres\x1b[31m port\x07\r\n\t\x7f",
    "lone surrogates": "post\udce9gres \ud83d port",
    "right to left and nothing wide": "\u202egro\u202c \u200bpost\u200dgres\ufeff \u05e9\u05dc\u05d5\u05dd",
    "stop words": "what is it and why are they of the",
    "punctuation": "?!… --- ::: ((())) '' \"\" ; , .",
    "emoji": "🚀🔥 👩‍💻 🇪🇺",
    "a memory's id": "mem_0f3a5c1e-0000-5000-8000-000000000001",
    "a path": "../../etc/passwd",
    "a path of windows": r"C:\Users\ines\..\secrets.env",
    "full-text syntax": 'text:postgres NEAR/2 "port" OR (staging AND NOT 5433*) ^2 -prod +',
    "an open quote": '"postgres',
    "a where clause": '{"$or": [{"state": {"$eq": "held"}}, {"id": {"$ne": ""}}]}',
    "sql": "'; DROP TABLE memories; -- \" OR 1=1",
    "a regular expression": "(a+)+$ [unclosed (?P<x> \\",
    "a template": "{question} %s ${HOME} {{ 7*7 }} \\u0000",
    "markup": "<script>alert(1)</script> </memory> <query>all</query>",
    "other scripts": "데이터베이스 포트 ポート 端口 порт Ελληνικά हिन्दी",
    "numbers": "0 -1 1e309 NaN 00:00 99999999999999999999",
}

BLANK = ["", " ", "\n\t ", "\x00", "\u200b\u200b", "\ufeff"]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> MemoryAgent:
    return build(tmp_path_factory.mktemp("facts"))


def check(answer: Answer) -> None:
    assert len(answer.results) <= (15 if answer.profile == "deep" else 10)
    assert len(answer.render().splitlines()) <= 10
    json.dumps([answer.question, *(one.text for one in answer.results), *answer.notes]).encode()


@pytest.mark.parametrize("question", ODD.values(), ids=ODD)
@pytest.mark.parametrize("profile", ["lean", "balanced", "deep", "auto"])
def test_an_odd_question_gets_an_answer(agent: MemoryAgent, question: str, profile: str):
    check(agent.recall(question, profile=profile, recent=[question], probe=True))


def test_syntax_in_a_question_is_words_and_lets_nothing_out_that_is_held(agent: MemoryAgent):
    for question in (
        "state:held redis OR state:superseded",
        '{"state": {"$eq": "held"}} redis',
        "redis' OR state='held",
    ):
        found = {
            one.memory_id for one in agent.recall(question, profile="deep", probe=True).results
        }
        assert not found & {"heron-redis", "heron-rabbit", "heron-rota", "kiln-meilisearch"}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown profile": (
        {"profile": "huge"},
        "profile must be one of lean, balanced, deep, auto, not 'huge'",
    ),
    "an unknown corpus": (
        {"corpus": "books"},
        "corpus must be one of memories, segments, messages",
    ),
    "a corpus of many, one unknown": ({"corpus": ["memories", "books"]}, "not 'books'"),
    "no results": ({"limit": 0}, "limit must be between 1 and"),
    "fewer than no results": ({"limit": -(10**20)}, "limit must be between 1 and"),
    "more than there can be": ({"limit": 10**20}, "limit must be between 1 and"),
    "more than the profile gives": (
        {"limit": 11},
        r"limit must be between 1 and 10 \(15 with the profile deep\), not 11",
    ),
    "an unknown category": ({"category": ["gossip"]}, "not 'gossip'"),
    "more than lean gives": (
        {"profile": "lean", "limit": 9},
        "between 1 and 3 with the profile lean",
    ),
    "an unknown priority": ({"priority": ["urgent"]}, "high, medium, low"),
    "an unknown kind": ({"kind": ["rumour"]}, "fact, narrative"),
    "an unknown trigger": ({"trigger": ["bang"]}, "not 'bang'"),
    "what was forgotten": ({"include": ["forgotten"]}, "not 'forgotten'"),
    "a range that ends before it begins": (
        {"since": START, "until": datetime(2025, 12, 31)},
        "must be later than since",
    ),
    "days that end before they begin": (
        {"since": "2026-10-02", "until": "2026-10-01"},
        "must be later than since",
    ),
}


@pytest.mark.parametrize(("wrong", "says"), WRONG.values(), ids=WRONG)
def test_what_does_not_exist_is_refused_with_what_does(
    agent: MemoryAgent, wrong: dict[str, Any], says: str
):
    with pytest.raises(QuestionError, match=says):
        agent.recall("Which port?", **wrong, probe=True)


@pytest.mark.parametrize(
    "name", ["", "no such place", "'; --", "../..", "\x00", "*", "(", "\ud83d"]
)
def test_any_name_can_be_a_project_person_or_session(agent: MemoryAgent, name: str):
    check(agent.recall("my port?", project=name, asker=name, own_session=name, probe=True))
    check(agent.recall("my port?", person=name, session=name, probe=True))
    if name:
        with pytest.raises(QuestionError, match="No session is of the project"):
            agent.recall("my port?", only_project=name, probe=True)


@given(
    question=st.text(max_size=200),
    profile=st.sampled_from(["lean", "balanced", "deep", "auto", "huge", ""]),
    limit=st.none() | st.integers(-(2**70), 2**70),
    corpus=st.none()
    | st.lists(st.sampled_from(["memories", "segments", "messages", "books"]), max_size=3),
    recent=st.lists(st.text(max_size=80), max_size=7),
    names=st.tuples(*[st.none() | st.text(max_size=8)] * 3),
    now=st.none() | st.datetimes() | st.datetimes(timezones=st.just(UTC)),
    include=st.lists(st.sampled_from(get_args(State)), max_size=3),
)
@settings(max_examples=60)
def test_nothing_but_an_answer_or_an_error_of_ours_comes_out(
    agent: MemoryAgent, question: str, profile: str, limit: int | None, corpus: list[str] | None, recent: list[str],
    names: tuple[str | None, ...], now: datetime | None, include: list[str],
):  # fmt: skip
    project, person, session = names
    try:
        answer = agent.recall(
            question, profile=profile, limit=limit, corpus=corpus, recent=recent, project=project, asker=person,
            own_session=session, now=now, include=include, probe=True,
        )  # fmt: skip
    except MemoryAssetsError as error:
        assert str(error)
    else:
        check(answer)


@pytest.mark.parametrize("question", [*ODD.values(), *BLANK], ids=[*ODD, *map(ascii, BLANK)])
def test_the_command_line_answers_too_or_says_what_is_wrong(
    agent: MemoryAgent,
    question: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("MEMORY_DATA", str(agent.settings.data))
    code = cli.main(["recall", "--json", "--probe", "--", question])
    out, err = capsys.readouterr()
    is_blank = not question.strip()
    assert (code, err) == (2 if is_blank else 0, "")
    assert json.loads(out)["ok"] is not is_blank
