"""An answer over all tiers of a real store: MEMORY.md, memories and raw messages, with a model, without one, and with a dead one."""

import json
import time

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.stages.embed.memories import RECALLED
from memory_assets.stages.recall.log import log_recalls
from memory_assets.store.store import Store
from memory_assets_tests.messages_api import KEY, serve
from memory_assets_tests.small_store import DAY, FACT, IDS, MEMORY, index, small_store
from memory_assets_tests.stages.distill.models import ScriptedModel

QUESTION = "do we use pip to install packages?"
SHORT = f"mem_{MEMORY.replace('-', '')[:12]}"


@pytest.fixture
def store() -> Store:
    store = small_store()
    index(store)
    return store


def test_without_a_model_the_answer_quotes_memories_and_cites_where_they_were_learnt(store: Store):
    quoted = MemoryAgent().answer(QUESTION)
    assert (quoted.is_known, quoted.is_extractive) == (True, True)
    assert f"{FACT} [{SHORT}]" in quoted.text
    (cited,) = [citation for citation in quoted.citations if citation.id == SHORT]
    where = (cited.kind, cited.ref, cited.session, cited.lines)
    assert where == ("fact", MEMORY, "session-1", (3,))


def test_an_assistants_message_is_quoted_from_all_of_its_text_not_only_from_what_recall_shows():
    store = small_store()
    between = " ".join(f"The weather of day {day} was fine." for day in range(60))
    text = f"Wheels are installed with uv.\n\n{between}\n\nSdists are also installed with uv, from source."
    is_long = pl.col("message_id") == IDS[3]
    messages = store.tables.read("messages")
    changed = messages.with_columns(text=pl.when(is_long).then(pl.lit(text)).otherwise("text"))
    store.tables.write("messages", DAY.isoformat(), changed)
    index(store)
    question = "are wheels and sdists installed with uv"
    (shown,) = [
        result
        for result in MemoryAgent().recall(question, probe=True).results
        if result.memory_id == IDS[3]
    ]
    assert not ("Wheels" in shown.text and "Sdists" in shown.text)
    quoted = MemoryAgent().answer(question, probe=True).text
    assert "assistant, 2026-08-03: Wheels are installed with uv." in quoted
    assert "assistant, 2026-08-03: Sdists are also installed with uv, from source." in quoted


def test_with_a_model_the_answer_is_put_together_from_what_it_was_shown(store: Store):
    (store.workspace / "MEMORY.md").write_text(
        "# MEMORY.md\n\n## Hard Rules\n\n- (2026-08-03) Install packages with uv, not pip.\n"
    )
    message = f"msg_{IDS[2].removeprefix('msg_')[:12]}"
    model = ScriptedModel(
        f"Packages are installed with uv [{SHORT}, MEMORY.md:5]. All packages we install [{message}]. Rust too [mem_1]."
    )
    said = MemoryAgent().answer(QUESTION, model=model)
    assert [one.kind for one in said.citations] == ["fact", "MEMORY.md", "message"]
    assert [one.reason for one in said.dropped] == ["it cites mem_1, which it was not given"]
    assert (said.cost.model_calls, said.cost.embeddings > 0, said.cost.seconds > 0) == (
        1,
        True,
        True,
    )
    (asked,) = model.asked
    assert all(f"[{one.id}]" in asked.material for one in said.citations)


def test_filters_hold_for_every_tier(store: Store):
    (store.workspace / "MEMORY.md").write_text("# MEMORY.md\n\n- Install packages with uv.\n")
    said = MemoryAgent().answer(QUESTION, category=["preferences"], kind=["fact"])
    assert not [one for one in said.citations if one.kind in ("fact", "MEMORY.md")]


def test_only_the_model_that_the_settings_name_is_asked_and_its_price_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert MemoryAgent().answer(QUESTION).is_extractive, "a key is not consent"
    with serve(lambda body: f"With uv [{SHORT}].") as api:
        monkeypatch.setenv("MEMORY_MODEL", "claude-haiku-4-5")
        monkeypatch.setenv("MEMORY_MODEL_URL", api.url)
        said = MemoryAgent().answer(QUESTION)
    assert said.text == f"With uv. [{SHORT}]"
    assert said.cost.usd > 0


PASSWORD = "Xk9#mQ2v!Lp7"
TYPED = f"do we use pip to install packages? password={PASSWORD}"
RULES = "# MEMORY.md\n\n## Hard Rules\n\n- (2026-08-03) Install packages with uv, not pip; no password is needed.\n"


def named(url: str, monkeypatch: pytest.MonkeyPatch) -> MemoryAgent:
    """An agent whose settings name a model at the address."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("MEMORY_MODEL", "claude-haiku-4-5")
    monkeypatch.setenv("MEMORY_MODEL_URL", url)
    return MemoryAgent()


def test_a_model_that_puts_an_answer_together_is_sent_no_password(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    (store.workspace / "MEMORY.md").write_text(RULES)
    given = ScriptedModel(f"With uv [{SHORT}].")
    assert MemoryAgent().answer(TYPED, model=given).cost.model_calls == 1
    with serve(lambda body: f"With uv [{SHORT}].") as api:
        assert named(api.url, monkeypatch).answer(TYPED).text == f"With uv. [{SHORT}]"
    (asked,), (sent,) = given.asked, api.questions()
    for told in (asked.material, json.dumps(sent)):
        assert (PASSWORD in told, "password=************" in told) == (False, True)


def test_the_named_model_reranks_balanced_answers_unless_told_not_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    plain = [one.memory_id for one in MemoryAgent().recall(TYPED, probe=True).results]
    assert len(plain) > 1
    monkeypatch.setattr("memory_assets.services.search.answers.DEADLINE_SECONDS", 60.0)
    with serve(lambda body: f"<order>{len(plain)}</order>") as api:
        agent = named(api.url, monkeypatch)
        found = agent.recall(TYPED)
        assert [one.memory_id for one in found.results] == [plain[-1], *plain[:-1]]
        assert (found.uses, found.cost.model_calls, found.cost.usd > 0) == (("rerank",), 1, True)
        assert agent.recall(TYPED, profile="lean", probe=True).cost.model_calls == 0
        assert agent.recall(TYPED, budget=True, probe=True).cost.model_calls == 0
        monkeypatch.setenv("MEMORY_RERANK", "false")
        assert MemoryAgent().recall(TYPED, probe=True).uses == ()
        (sent,) = (json.dumps(question) for question in api.questions())
    assert (PASSWORD in sent, "password=************" in sent) == (False, True)
    assert log_recalls(store.ledger.events([RECALLED]), store.settings.zone)[
        "model_calls"
    ].to_list() == [1]


def test_loading_the_sdk_is_no_part_of_the_deadline(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memory_assets.services.search.answers.DEADLINE_SECONDS", 2.0)
    monkeypatch.setattr("memory_assets.services.search.answers.load_sdk", lambda: time.sleep(2.1))
    with serve(lambda body: "<order>2</order>") as api:
        assert named(api.url, monkeypatch).recall(TYPED, probe=True).uses == ("rerank",)


def test_what_was_cited_is_noted_as_recalled_with_the_cost_and_a_probe_is_not(store: Store):
    MemoryAgent().answer(QUESTION, probe=True)
    assert store.ledger.events([RECALLED]) == []
    MemoryAgent().answer(QUESTION)
    (event,) = store.ledger.events([RECALLED])
    assert event.payload["memory_ids"] == [MEMORY]
    (noted,) = log_recalls([event], store.settings.zone).iter_rows(named=True)
    assert (noted["profile"], noted["outcome"], noted["embeddings"] > 0) == (
        "reflect",
        "memories",
        True,
    )


def test_sources_of_a_project_that_may_not_be_sent_are_quoted_instead(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    model = ScriptedModel(f"Packages are installed with uv [{SHORT}].")
    monkeypatch.setenv("MEMORY_MODEL_PROJECTS", "other")
    said = MemoryAgent().answer(QUESTION, model=model)
    assert (model.asked, said.is_extractive, said.is_known) == ([], True, True)
    assert any("No model was asked: the sources include some of x" in note for note in said.notes)
    monkeypatch.setenv("MEMORY_MODEL_PROJECTS", "x")
    assert not MemoryAgent().answer(QUESTION, model=model).is_extractive
