"""Remember, correct, forget: one line on disk each, known to every process at once, nothing where anything is wrong."""

import pytest

from memory_assets.errors import NoteError, QuestionError
from memory_assets.memory import MemoryAgent
from memory_assets.services.notes.remember import LONGEST
from memory_assets.services.search.memory_ids import find_memory
from memory_assets.stages.embed.notes import note_rows
from memory_assets.store.ledger import NOTES, Ledger
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store, write

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
def test_what_cannot_be_kept_is_refused_and_nothing_written(
    text: str, more: dict, why: str, agent: MemoryAgent, store: Store
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
    ids = [MEMORY, "abcdef12-0000-5000-8000-000000000001"]
    write(store, "memories", "all", row("memories", id=MEMORY, observation_ids=ids))
    memories = store.tables.read("memories")
    assert (
        find_memory(memories, "mem_abcdef12")["id"] == find_memory(memories, MEMORY)["id"] == MEMORY
    )


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
