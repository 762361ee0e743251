"""Remember, correct, forget: one line on disk each, known to every process at once, nothing where anything is wrong."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.errors import MemoryAssetsError, NoteError, QuestionError
from memory_assets.memory import MemoryAgent
from memory_assets.services.health.status import render_status
from memory_assets.services.notes.remember import LONGEST, Noted
from memory_assets.services.search import corpus
from memory_assets.services.search.corpus import open_note_vectors, open_texts, open_vectors
from memory_assets.services.search.memory_ids import find_memory
from memory_assets.stages.embed.notes import note_rows
from memory_assets.stages.embed.present import overlay
from memory_assets.store.ledger import NOTES, Ledger
from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.factories import index_rows, row
from memory_assets_tests.small_store import (
    FACT,
    MEMORY,
    NARRATIVE,
    PROPOSAL,
    TURNS,
    index,
    small_store,
    write,
)

SHOWN = f"mem_{MEMORY.replace('-', '')[:12]}"
SECRET = "ghp_" + "R7dKq2vXw9Lm4TzB8sNf3Yh6Jc1PgUa5Eo0I"


@pytest.fixture
def store() -> Store:
    return small_store()


@pytest.fixture
def agent(store: Store) -> MemoryAgent:
    return MemoryAgent()


def said(store: Store) -> list[tuple[str, str, dict]]:
    """What another process reads in the ledger."""
    return [
        (event.kind, event.target, event.payload)
        for event in Ledger(store.root / "ledger", store.settings.clock).events()
    ]


def test_a_note_gets_an_optional_category_where_the_settings_name_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_OPTIONAL_CATEGORIES", "hobbies,health")
    index(store)
    noted = MemoryAgent().remember("The owner plays the guitar on Sundays.")
    assert noted.category == "hobbies"
    assert said(store)[-1][2]["taxonomy"] == "v1+health+hobbies"
    (found,) = MemoryAgent().recall("guitar", category=("hobbies",)).results
    assert (found.text, found.category) == ("The owner plays the guitar on Sundays.", "hobbies")


def test_a_note_is_found_by_its_tags_which_a_correction_keeps(store: Store, agent: MemoryAgent):
    index(store)
    noted = agent.remember(
        "The release train leaves on Thursday.", tag=["Release", "train", "release"]
    )
    assert said(store)[-1][2]["tags"] == ["release", "train"]
    agent.remember("The ferry leaves on Friday.", tag="ferry")

    def found(*tags: str) -> list[str]:
        return [
            one.text for one in agent.recall("when does it leave", tag=tags, probe=True).results
        ]

    assert found("train") == ["The release train leaves on Thursday."]
    assert sorted(found("train", "ferry")) == [
        "The ferry leaves on Friday.",
        "The release train leaves on Thursday.",
    ]
    assert found("boat") == []
    agent.remember("The release train leaves on Monday.", instead_of=noted.memory_id)
    assert found("train") == found("correction") == ["The release train leaves on Monday."]


@pytest.mark.parametrize("tag", ["two words", "", "x" * 41, "a,b"])
def test_a_tag_is_one_word(agent: MemoryAgent, tag: str):
    with pytest.raises(QuestionError, match="a tag has up to 40 letters"):
        agent.remember("The ferry leaves on Friday.", tag=[tag])


def files(store: Store) -> bytes:
    return b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())


def test_what_is_remembered_is_on_disk_when_the_call_returns(agent: MemoryAgent, store: Store):
    noted = agent.remember(
        "I prefer\n two-space indents.", priority="high", project="shop", session="session-9"
    )
    ((kind, target, payload),) = said(store)
    assert (kind, target) == ("memory.noted", "all")
    assert (payload["text"], payload["session"]) == ("I prefer two-space indents.", "session-9")
    assert (noted.kind, noted.category, noted.priority, noted.project) == (
        "noted",
        "preferences",
        "high",
        "shop",
    )
    assert noted.memory_ids == tuple(note_rows(store.ledger.events(NOTES))["id"])
    assert noted.memory_id == f"mem_{noted.memory_ids[0].replace('-', '')[:12]}"


def test_a_fact_about_no_project_concerns_everyone_and_a_preference_only_its_person(
    agent: MemoryAgent, store: Store
):
    agent.remember("The release train leaves on Thursday.", category="operations")
    agent.remember("The release train leaves on Thursday.", category="operations", project="shop")
    agent.remember("Dark themes only, please.", category="preferences", project="shop")
    assert [payload["scope"] for _, _, payload in said(store)] == ["everyone", "project", "person"]


def test_a_secret_never_reaches_the_disk(agent: MemoryAgent, store: Store):
    noted = agent.remember(
        f"The deploy token is {SECRET}, ask Jonas for a new one.", project=SECRET, session=SECRET
    )
    agent.remember(f"Use uv with the token {SECRET}.", instead_of=SHOWN)
    assert noted.masked_count == 1
    assert noted.text == f"The deploy token is {'*' * len(SECRET)}, ask Jonas for a new one."
    assert SECRET.encode() not in files(store)


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        ("", {}, "empty"),
        (" \n\t ", {}, "empty"),
        ("…!?", {}, "no word"),
        (SECRET, {}, "nothing but the secret"),
        ("x" * (LONGEST + 1), {}, "The text has 2,001 characters"),
        ("x" * 100_000, {}, "The text has 100,000 characters"),
        ("Use \x1b[31muv", {}, r"U\+001B"),
        ("Use\x00uv", {}, r"U\+0000"),
        (
            "Use uv.",
            {"category": "cooking"},
            "category must be one of preferences, .* not 'cooking'",
        ),
        (
            "Use uv.",
            {"priority": "urgent"},
            "priority must be one of high, medium, low, not 'urgent'",
        ),
        ("Use uv.", {"sentiment": "grumpy"}, "sentiment must be one of .* not 'grumpy'"),
        ("Use uv.", {"project": "x" * 201}, "The project has 201 characters"),
        ("Use uv.", {"session": "a\x07b"}, "the session"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_written(
    text: str, more: dict[str, Any], why: str, agent: MemoryAgent, store: Store
):
    with pytest.raises((NoteError, QuestionError), match=why):
        agent.remember(text, **more)
    if not more:
        with pytest.raises(NoteError, match=why):
            agent.remember(text, instead_of=SHOWN)
    assert said(store) == []


def test_a_correction_names_what_it_replaces_and_keeps_its_evidence(
    agent: MemoryAgent, store: Store
):
    noted = agent.remember("Use uv or pixi, never pip, to install packages.", instead_of=SHOWN[:10])
    (kind, target, payload), proposal = said(store)
    assert proposal == (
        "proposal.edited",
        PROPOSAL,
        {"text": "Use uv or pixi, never pip, to install packages."},
    )
    assert (kind, target, noted.replaces, noted.category) == (
        "memory.corrected",
        MEMORY,
        MEMORY,
        "rules-conventions",
    )
    assert payload["observation_ids"] == [MEMORY]
    assert len(payload["text_hashes"]) == len(payload["message_ids"]) == 1


def test_what_does_not_stand_any_more_cannot_be_corrected(agent: MemoryAgent, store: Store):
    newer = agent.remember("Use uv.", instead_of=SHOWN)
    with pytest.raises(NoteError, match=f"{SHOWN} was already replaced by {newer.memory_id}"):
        agent.remember("Use pixi.", instead_of=SHOWN)
    with pytest.raises(NoteError, match="already has this text"):
        agent.remember("Use  uv.", instead_of=newer.memory_id)
    agent.forget(newer.memory_id, apply=True)
    with pytest.raises(NoteError, match="is already forgotten"):
        agent.remember("Use pixi.", instead_of=newer.memory_id)
    with pytest.raises(NoteError, match="is already forgotten"):
        agent.forget(newer.memory_id, apply=True)
    told = [kind for kind, _, _ in said(store) if not kind.startswith("proposal.")]
    assert sorted(told) == [
        "memory.corrected",
        "memory.forgotten",
        "words.erased",
        "words.forgotten",
    ]


@pytest.mark.parametrize(
    "name", ["mem_0f3a5", "mem_", "", "fly.io", "mem_0f3a5c1e00", "mem_ffffffffffff"]
)
def test_an_id_that_names_no_memory_or_several_is_refused(
    name: str, agent: MemoryAgent, store: Store
):
    other = MEMORY.replace("5000", "5001")
    write(
        store,
        "memories",
        "all",
        row("memories", id=MEMORY, state="active", text=FACT, observation_ids=[MEMORY]),
        row("memories", id=other, state="active", text="another", observation_ids=[other]),
    )
    with pytest.raises(
        NoteError, match="is not a memory id|matches 2 memories: mem_|There is no memory"
    ):
        agent.remember("Use pixi.", instead_of=name)
    assert said(store) == []


def test_a_memory_is_known_by_the_id_of_any_observation_behind_it(store: Store):
    write(
        store,
        "memories",
        "all",
        row(
            "memories", id=MEMORY, observation_ids=[MEMORY, "abcdef12-0000-5000-8000-000000000001"]
        ),
    )
    memories = store.tables.read("memories")
    assert (
        find_memory(memories, "mem_abcdef12")["id"] == find_memory(memories, MEMORY)["id"] == MEMORY
    )


def test_what_one_process_remembers_another_can_correct(agent: MemoryAgent, store: Store):
    noted = agent.remember("The staging database listens on port 5432.", category="operations")
    other = MemoryAgent()
    assert isinstance(
        other.remember("The staging database listens on port 5433.", instead_of=noted.memory_id),
        Noted,
    )
    with pytest.raises(NoteError, match="was already replaced by"):
        agent.remember("It listens on port 5434.", instead_of=noted.memory_id)


def test_an_error_of_a_note_is_one_that_a_person_reads():
    assert issubclass(NoteError, MemoryAssetsError)


def test_a_note_is_explained_by_its_line_in_the_ledger_and_what_it_corrected(
    agent: MemoryAgent, store: Store
):
    noted = agent.remember("Herons nest beside the reactor.", session="session-9")
    corrected = agent.remember("Storks nest beside the reactor.", instead_of=noted.memory_id)
    found = agent.explain(corrected.memory_id)
    assert (found.is_verified, found.root.kind, found.root.id) == (
        True,
        "note",
        corrected.memory_ids[0],
    )
    assert (found.root.facts["told_by"], found.root.facts["event"]) == (
        store.settings.owner,
        corrected.event_id,
    )
    (before,) = found.root.behind
    assert (before.id, before.facts["text"], before.facts["session"]) == (
        noted.memory_ids[0],
        noted.text,
        "session-9",
    )


class TestRecall:
    """What was told is recalled by every process that was open before, and what was forgotten by none."""

    @pytest.fixture
    def other(self, store: Store) -> MemoryAgent:
        index(store)
        other = MemoryAgent()
        assert texts(other, "how do we install packages") == [FACT]
        return other

    def test_a_note_is_recalled_at_once_by_its_words_and_by_its_meaning(
        self, agent: MemoryAgent, other: MemoryAgent
    ):
        noted = agent.remember("Herons nest beside the reactor.")
        (found,) = other.recall("herons near the reactor", profile="lean", probe=True).results
        assert (found.memory_id, found.session, found.arms) == (
            noted.memory_ids[0],
            "ledger",
            ("keyword", "vector"),
        )
        (found,) = other.recall("birds at the nuclear plant", profile="lean", probe=True).results
        assert (found.text, found.arms) == (noted.text, ("vector",))

    def test_of_a_corrected_memory_only_the_correction_is_recalled(
        self, agent: MemoryAgent, other: MemoryAgent
    ):
        agent.remember("Use pixi to install packages.", instead_of=SHOWN)
        assert texts(other, "how do we install packages") == ["Use pixi to install packages."]

    def test_what_is_forgotten_is_not_recalled_not_even_from_what_was_said(
        self, agent: MemoryAgent, other: MemoryAgent
    ):
        assert TURNS[2] in other.recall("use uv never pip", probe=True, profile="deep").render()
        agent.forget("use uv, never pip", apply=True)
        shown = other.recall("use uv never pip", probe=True, profile="deep").render()
        assert not [text for text in (FACT, TURNS[2], NARRATIVE) if text in shown]

    def test_a_note_of_a_published_generation_is_found_once(
        self, agent: MemoryAgent, store: Store, other: MemoryAgent
    ):
        noted = agent.remember("Herons nest beside the reactor.")
        assert texts(other, "herons") == [noted.text]
        fold = overlay(store.tables.read("memories"), store.ledger.events(NOTES))
        store.tables.write("memories", "all", fold)
        assert texts(other, "herons") == [noted.text]
        vector = LocalEmbedder().encode_query(noted.text).tolist()
        open_vectors(store).update(
            pl.DataFrame({"id": [noted.memory_ids[0]], "vector": [vector], "state": ["active"]}), []
        )
        words = pl.DataFrame(
            {"id": [noted.memory_ids[0]], "corpus": ["memories"], "text": [noted.text]}
        )
        open_texts(store).update(index_rows(words), [])
        assert texts(other, "herons") == [noted.text]

    def test_conflicting_notes_are_marked_before_the_next_merge_and_the_newer_comes_first(
        self, agent, other: MemoryAgent
    ):
        older = agent.remember("Staging listens on port 5432.", category="operations")
        newer = agent.remember("Staging listens on port 5433.", category="operations")
        found = other.recall(
            "on which port does staging listen", profile="lean", probe=True
        ).results
        assert [(one.memory_id, one.tags) for one in found] == [
            (newer.memory_ids[0], (f"conflict:{older.memory_id}",)),
            (older.memory_ids[0], (f"conflict:{newer.memory_id}",)),
        ]

    def test_a_note_that_conflicts_with_a_memory_is_marked_and_the_memory_too(
        self, agent, store: Store, other: MemoryAgent
    ):
        known = store.tables.read("memories").with_columns(
            kind=pl.lit("fact"), scope=pl.lit("everyone")
        )
        store.tables.write("memories", "all", known)
        noted = agent.remember(
            "Use pip, never uv, to install packages.", category="rules-conventions"
        )
        found = other.recall("how do we install packages", profile="lean", probe=True).results
        assert {one.memory_id: one.tags for one in found} == {
            MEMORY: (f"conflict:{noted.memory_id}",),
            noted.memory_ids[0]: (f"conflict:{SHOWN}",),
        }

    def test_a_note_is_encoded_by_one_process_for_all(
        self, agent: MemoryAgent, other: MemoryAgent, monkeypatch
    ):
        agent.remember("Herons nest beside the reactor.")
        agent.remember("Storks nest on the chimney.")
        encoded = encoded_texts(monkeypatch)
        for _ in range(2):
            corpus._present.clear()
            assert (
                texts(other, "birds at the nuclear plant")[0] == "Herons nest beside the reactor."
            )
        assert sorted(encoded) == ["Herons nest beside the reactor.", "Storks nest on the chimney."]

    def test_a_kept_vector_of_another_model_is_replaced(
        self, agent: MemoryAgent, store: Store, other: MemoryAgent
    ):
        agent.remember("Herons nest beside the reactor.")
        text_hash = note_rows(store.ledger.events(NOTES))["text_hash"][0]
        open_note_vectors(store).write(LocalEmbedder().name, text_hash, np.ones(3))
        assert texts(other, "birds at the nuclear plant") == ["Herons nest beside the reactor."]
        kept = open_note_vectors(store).read(LocalEmbedder().name, text_hash)
        assert kept is not None and len(kept) == 384

    def test_forgetting_removes_the_vectors_of_notes(
        self, agent: MemoryAgent, store: Store, other: MemoryAgent
    ):
        noted = agent.remember("Herons nest beside the reactor.")
        assert texts(other, "herons") == [noted.text]
        assert [path for path in (store.root / "index" / "notes").rglob("*") if path.is_file()]
        agent.forget(noted.memory_id, apply=True)
        assert not (store.root / "index" / "notes").exists()
        assert texts(other, "herons") == []


class TestFirstNote:
    """The first note creates the store; nothing has to be read or built before it is recalled."""

    @pytest.fixture
    def agent(self) -> MemoryAgent:
        agent = MemoryAgent()
        assert not agent.exists
        return agent

    def test_it_is_recalled_by_its_words_and_by_its_meaning(self, agent: MemoryAgent):
        noted = agent.remember("Herons nest beside the reactor.")
        agent.remember("The release train leaves on Thursday.")
        (found,) = MemoryAgent().recall("herons near the reactor", probe=True).results
        assert (found.memory_id, found.arms) == (noted.memory_ids[0], ("keyword", "vector"))
        answer = MemoryAgent().recall("birds at the nuclear plant", probe=True)
        assert ([one.text for one in answer.results], answer.degraded) == ([noted.text], None)
        assert MemoryAgent().recall("which database do we use", probe=True).results == ()
        assert noted.text in MemoryAgent().answer("where do herons nest", probe=True).text

    def test_the_status_is_not_empty_and_the_doctor_finds_nothing(self, agent: MemoryAgent):
        agent.remember("Herons nest beside the reactor.")
        assert "memories      none built yet; notes: 1" in render_status(agent.status())
        assert agent.health().is_well

    def test_its_vector_is_kept_until_the_index_contains_it(self, agent: MemoryAgent):
        noted = agent.remember("Herons nest beside the reactor.")
        assert texts(agent, "birds at the nuclear plant") == [noted.text]
        day = str(noted.at.date())
        assert run_assets(agent.store, "embedding_failures", "embeddings", days=(day, day)).success
        assert run_assets(agent.store, "merges", "memories", "vector_index", "text_index").success
        assert [
            path for path in (agent.store.root / "index" / "notes").rglob("*") if path.is_file()
        ] == []
        assert texts(MemoryAgent(), "birds at the nuclear plant") == [noted.text]

    @pytest.mark.parametrize("text", ["", SECRET])
    def test_an_invalid_one_creates_nothing(self, agent: MemoryAgent, text: str):
        with pytest.raises(NoteError):
            agent.remember(text)
        with pytest.raises(NoteError):
            agent.remember("Herons nest beside the reactor.", instead_of=SHOWN)
        assert not agent.settings.data.exists()


def encoded_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are encoded alone from now on, questions excepted."""
    encoded: list[str] = []
    encode_query = LocalEmbedder.encode_query

    def count(self: LocalEmbedder, text: str):
        encoded.append(text)
        return encode_query(self, text)

    monkeypatch.setattr(LocalEmbedder, "encode_query", count)
    return encoded


def texts(agent: MemoryAgent, question: str, profile: str = "lean") -> list[str]:
    return [result.text for result in agent.recall(question, probe=True, profile=profile).results]
