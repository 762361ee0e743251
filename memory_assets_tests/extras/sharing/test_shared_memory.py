"""What a person with a token sees: facts of projects, and of people and sessions only their own, in every verb.

The strongest rule is non-interference: the answers to Mira are the same, byte for byte, whether or not Bo's private rows exist.
"""

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import orjson
import pytest
from pytest import MonkeyPatch

from memory_assets.errors import ScopeError, UnknownIdError, UnknownMemoryError
from memory_assets.extras.sharing.answers import SHARED
from memory_assets.interfaces.envelope import to_json
from memory_assets.memory import MemoryAgent
from memory_assets.stages.recall.results import Answer
from memory_assets.store import ledger
from memory_assets.store.store import Store
from memory_assets.text.short_ids import short_id
from memory_assets_tests.extras.sharing.team_store import (
    BLOG,
    BO,
    BO_SAID,
    MIRA,
    PREFERENCE,
    SHOP,
    as_reader,
    team_store,
)
from memory_assets_tests.small_store import FACT, PROPOSAL
from memory_assets_tests.stages.capture.vendor_formats import draw_form

PRIVATE_WORDS = ("marmalade", "zeppelin", "surgery", "hangar")
"""They occur in nothing but Bo's preference and session."""

QUESTIONS: list[dict[str, Any]] = [
    {"question": "where is the zeppelin hangar documented"},
    {"question": "what does Bo prefer", "include": ["held", "superseded", "stale"]},
    {"question": "which marmalade coloured diffs does Bo like", "person": BO},
    {"question": "what are our preferences", "profile": "deep"},
    {"question": "my preferences", "category": ["preferences"]},
    {"question": "surgery", "corpus": ["messages"]},
    {"question": "surgery", "session": "session-2", "corpus": ["messages", "segments", "memories"]},
    {"question": "where are things archived", "profile": "lean"},
]


@pytest.fixture
def store(monkeypatch: MonkeyPatch) -> Store:
    return team_store(monkeypatch)


def as_text(answer: object) -> str:
    return to_json(answer).decode()


def comparable(answer: Answer) -> Answer:
    """Returns the answer without its duration."""
    return replace(answer, cost=replace(answer.cost, seconds=0.0))


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["question"][:20])
def test_a_stranger_recalls_nothing_private(store: Store, asked: dict[str, Any]):
    found = as_reader(MIRA).recall(**asked)
    shown = as_text([found.results, found.left_out, found.notes])
    assert not [word for word in PRIVATE_WORDS if word in shown]
    assert "msg_b" not in shown


def answers_to_mira() -> list[str]:
    """Returns all answers as text."""
    mira = as_reader(MIRA, "shop")
    recalled = [comparable(mira.recall(**asked, probe=True)) for asked in QUESTIONS]
    said = [
        replace(one, cost=replace(one.cost, seconds=0.0))
        for one in (mira.answer(one.question) for one in recalled)
    ]
    prepared = [
        mira.brief(),
        mira.memory_md(),
        replace(mira.status(), updated_at=None),
        mira.triggers(),
        mira.review(),
    ]
    return [as_text(one) for one in (*recalled, *said, *prepared)]


def test_the_answers_do_not_depend_on_what_the_reader_may_not_read(
    monkeypatch: MonkeyPatch, tmp_path: Path
):
    answers = dict[bool, list[str]]()
    for is_private in (True, False):
        numbers = (
            itertools.count()
        )  # ids of notes break ties, so they must be the same in both stores
        monkeypatch.setattr(
            ledger,
            "uuid",
            SimpleNamespace(uuid4=lambda numbers=numbers: UUID(int=next(numbers) << 96)),
        )
        monkeypatch.setenv("MEMORY_DATA", str(tmp_path / f"store-{is_private}"))
        team_store(monkeypatch, is_private=is_private)
        answers[is_private] = answers_to_mira()
    for with_private, without in zip(answers[True], answers[False], strict=True):
        assert with_private == without


def test_each_recalls_their_own_preference_and_session(store: Store):
    assert as_reader(BO).recall("which colour do diffs have").results[0].text == PREFERENCE[BO]
    assert BO_SAID[0] in as_text(
        as_reader(BO).recall("where is the zeppelin hangar documented").results
    )
    assert as_reader(MIRA).recall("what are our preferences").results[0].text == PREFERENCE[MIRA]


def test_facts_of_projects_are_shared_and_those_of_the_own_project_come_first(store: Store):
    both = {"question": "what is archived in a database", "corpus": ["memories"], "probe": True}
    for person in (MIRA, BO):
        shop, blog = (as_reader(person, project).recall(**both) for project in ("shop", "blog"))
        order = [
            [one.text for one in found.results if one.text in (SHOP, BLOG)]
            for found in (shop, blog)
        ]
        assert order == [[SHOP, BLOG], [BLOG, SHOP]]
        away = next(one for one in shop.results if one.text == BLOG)
        assert away.weights["elsewhere"] < 1
    named = as_reader(BO, "shop").recall(**both, project="blog")
    assert next(one for one in named.results if one.text in (SHOP, BLOG)).text == BLOG


def test_the_person_and_project_of_the_token_are_those_of_what_it_saves(store: Store):
    noted = as_reader(BO, "blog").remember("The attic is painted green.", category="operations")
    assert noted.project == "blog"
    event = store.ledger.events(["memory.noted"])[-1]
    assert (event.actor, event.payload["person"]) == (BO, BO)
    assert (
        as_reader(BO, "blog")
        .remember("Every attic has a window.", project="shop", category="operations")
        .project
        == "shop"
    )


def id_of(person: str, text: str) -> str:
    found = as_reader(person).recall(text, corpus=["memories"], include=["superseded"], probe=True)
    return next(one.memory_id for one in found.results if one.text == text)


def test_the_id_of_a_hidden_memory_is_as_unknown_as_one_that_does_not_exist(store: Store):
    hidden, mira = short_id(id_of(BO, PREFERENCE[BO])), as_reader(MIRA)
    for refused in (
        lambda id: mira.feedback([id], used=True),
        lambda id: mira.remember("Bo prefers grey diffs.", instead_of=id),
        lambda id: mira.forget(id, apply=True),
        lambda id: mira.explain(id),
    ):
        messages = list[str]()
        for id in (hidden, "mem_ffffffffffff"):
            with pytest.raises((UnknownMemoryError, UnknownIdError)) as raised:
                refused(id)
            messages.append(str(raised.value).replace(id, "ID"))
        assert messages[0] == messages[1]
    assert as_reader(BO).recall("which colour do diffs have").results[0].text == PREFERENCE[BO]


def test_a_shared_fact_is_corrected_by_another_and_its_pending_proposal_follows(store: Store):
    as_reader(BO).remember("Use uv, never pip or conda.", instead_of=id_of(BO, FACT))
    assert [one.text for one in as_reader(MIRA).review().pending] == ["Use uv, never pip or conda."]
    assert store.ledger.events(["memory.corrected"])[-1].actor == BO


def test_what_others_said_is_explained_without_their_words(store: Store):
    fact = id_of(BO, FACT)
    outline: Any = as_reader(BO).explain(fact)
    assert (outline.root.kind, outline.root.behind) == (SHARED, ())
    assert outline.root.facts["text"] == FACT
    assert "With pip." not in as_text(outline)
    assert as_text(as_reader(MIRA).explain(BO_SAID[1])) == as_text(
        as_reader(MIRA).explain("nobody ever said this here")
    ).replace("nobody ever said this here", BO_SAID[1])
    said: Any = as_reader(BO).explain(BO_SAID[1])
    assert said.stage == "not observed"
    hidden = MemoryAgent().recall(BO_SAID[1], corpus=["messages"], probe=True).results[0].memory_id
    with pytest.raises(UnknownIdError, match="There is no message"):
        as_reader(MIRA).explain(hidden)
    opened: Any = as_reader(BO).explain(hidden)
    assert BO_SAID[1] in [message.text for message in opened.exchanges[0].messages]
    own: Any = as_reader(MIRA).explain(SHOP)
    assert own.root.kind == "note"


def test_personal_lines_of_the_files_of_entries_are_of_their_person_alone(store: Store):
    (store.workspace / "projects").mkdir()
    (store.workspace / "projects" / "shop.md").write_text(
        f"# shop\n\nPrivate prose.\n\n## Mira\n\n- (2026-08-03) Answer Mira briefly.\n\n## Hard Rules\n\n- (2026-08-03) {FACT}\n"
        f"- (2026-08-03) {PREFERENCE[BO]}\n"
    )
    rules = f"- (2026-08-03) {FACT}\n- (2026-08-03) {PREFERENCE[BO]}"
    assert as_reader(BO, "shop").memory_md() == f"# shop\n\n## Hard Rules\n\n{rules}"
    mira = as_reader(MIRA, "shop").memory_md()
    assert "Answer Mira briefly." in mira and FACT in mira and "marmalade" not in mira
    assert (
        FACT in as_reader(BO, "shop").brief().text
        and "Answer Mira" not in as_reader(BO, "shop").brief().text
    )
    cited = as_reader(BO, "shop").answer("should I answer Mira briefly")
    assert "Answer Mira briefly" not in as_text(cited)


@pytest.mark.parametrize("project", ["", "shop"])
def test_a_secret_that_was_typed_into_a_file_of_entries_is_masked(store: Store, project: str):
    secret = draw_form("github classic", Random(3))[1]
    path = store.workspace / (f"projects/{project}.md" if project else "MEMORY.md")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# m\n\n## Hard Rules\n\n- (2026-08-01) The key of the gauge is {secret}.\n")
    memory_md = as_reader(BO, project).memory_md()
    assert "The key of the gauge is ****" in memory_md and secret not in memory_md


def test_only_reviewers_of_a_project_and_the_owner_decide(store: Store, monkeypatch: MonkeyPatch):
    ask = {"decision": "reject", "proposals": [PROPOSAL], "reason": "no"}
    with pytest.raises(ScopeError, match="Bo is no reviewer of shop"):
        as_reader(BO).decide(**ask)
    monkeypatch.setenv("MEMORY_REVIEWERS", '{"blog": ["Bo"]}')
    with pytest.raises(ScopeError, match="Bo is no reviewer of shop"):
        as_reader(BO).decide(**ask)
    assert not store.ledger.events(["proposal.rejected"])
    with pytest.raises(UnknownIdError, match="waits"):
        as_reader(BO).decide("reject", proposals=["p-20260101-999"])


@pytest.mark.slow
def test_a_reviewer_decides_in_their_own_name(store: Store, monkeypatch: MonkeyPatch):
    monkeypatch.setenv("MEMORY_REVIEWERS", '{"shop": ["Bo"]}')
    (decided,) = as_reader(BO).decide("reject", proposals=[PROPOSAL], reason="not ours").decided
    assert (decided.state, decided.reason) == ("rejected", "not ours")
    assert store.ledger.events(["proposal.rejected"])[-1].actor == BO


def test_a_token_forgets_what_its_person_said_and_nothing_else(store: Store):
    with pytest.raises(ScopeError, match="sessions of others"):
        as_reader(BO).forget(id_of(BO, SHOP), apply=True)
    with pytest.raises(ScopeError, match="by their id"):
        as_reader(BO).forget("the cellar database", apply=True)
    noted = as_reader(BO).remember(
        SHOP.replace("archived", "kept"), category="operations", project="shop"
    )
    assert as_reader(BO).forget(noted.memory_ids[0]).is_applied is False


def test_the_owner_at_the_store_still_sees_everything(store: Store):
    assert (
        MemoryAgent().recall("which colour do diffs have, as Bo likes them").results[0].text
        == PREFERENCE[BO]
    )
    assert BO_SAID[0] in as_text(MemoryAgent().recall("where is the zeppelin hangar documented"))
    assert orjson.loads(as_text(as_reader(MIRA).status()))["sessions"] == 1
