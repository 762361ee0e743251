"""The graph: what memories name becomes entities, what they say of them relations; only changed memories are read again."""

from datetime import timedelta

import polars as pl
import pytest

from memory_assets.schema import frames as tables
from memory_assets.stages.embed import mentions as mentions_module
from memory_assets.stages.embed.graph import build_entities, build_relations, render_picture
from memory_assets.stages.embed.mentions import read_mentions
from memory_assets.stages.embed.session_names import read_session_mentions, sessions_of
from memory_assets_tests.factories import START, frame, row


def memories(*texts: str | dict) -> pl.DataFrame:
    """Memories m0, m1 … of project shop, a day apart; a text may come with changed columns."""
    rows = []
    for number, told in enumerate(texts):
        changes = {"text": told} if isinstance(told, str) else told
        at = START + timedelta(days=number)
        plain = {
            "id": f"m{number}",
            "state": "active",
            "project": "shop",
            "person": "mira",
            "first_event_at": at,
            "event_at": at,
        }
        rows.append(row("memories", **plain | {"wordings": [changes["text"]]} | changes))
    return frame("memories", *rows)


def graph(found: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    said = read_mentions(found, tables.empty("mentions"))
    entities = build_entities(said, found)
    relations = build_relations(said, entities, found)
    for name, made in (("mentions", said), ("entities", entities), ("relations", relations)):
        tables.check(name, made)
    return entities, relations


def names(entities: pl.DataFrame, kind: str) -> dict[str, int]:
    return dict(
        entities.filter(pl.col("kind") == kind)
        .select("name", "memory_count")
        .sort("name")
        .iter_rows()
    )


def told(found: pl.DataFrame, kind: str) -> set[tuple[str, str]]:
    entities, relations = graph(found)
    name = dict(entities.select("entity_id", "name").iter_rows())
    ends = relations.filter(pl.col("kind") == kind).select("source_id", "target_id").iter_rows()
    return {(name[source], name[target]) for source, target in ends}


def test_other_names_are_one_entity_and_its_aliases():
    entities, _ = graph(
        memories("We deploy to k8s.", "Kubernetes runs version 1.30.", "kube restarts it.")
    )
    (row,) = entities.filter(pl.col("kind") == "service").iter_rows(named=True)
    assert (row["name"], row["memory_count"], row["projects"]) == ("Kubernetes", 3, ["shop"])
    assert {"k8s", "kube"} <= set(row["aliases"])
    assert (row["first_event_at"], row["event_at"]) == (START, START + timedelta(days=2))


def test_a_bare_file_name_is_the_one_file_that_ends_so():
    entities, _ = graph(
        memories(
            "See `internal/cart/total.go`.",
            "`total.go:12` rounds wrongly.",
            "`README.md` and `docs/README.md`",
        )
    )
    assert names(entities, "file") == {
        "internal/cart/total.go": 2,
        "README.md": 1,
        "docs/README.md": 1,
    }
    entities, _ = graph(
        memories("See `a/total.go` and `b/total.go`.", "`total.go:12` rounds wrongly.")
    )
    assert names(entities, "file") == {"a/total.go": 1, "b/total.go": 1, "total.go": 1}


def test_a_telling_project_name_means_the_project_and_a_plain_word_does_not():
    elsewhere = {"text": "The `git-sync` tool is fast, the `shop` is slow.", "project": "tide"}
    entities, _ = graph(
        memories({"text": "Start here.", "project": "git-sync"}, elsewhere, "Open at nine.")
    )
    assert names(entities, "project") == {"git-sync": 2, "shop": 1, "tide": 1}


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("`git push --mirror` overwrites.", "uses", {("git push", "--mirror")}),
        ("The shop uses Redis for sessions.", "uses", {("shop", "Redis")}),
        ("It is deployed to Fly.io.", "uses", {("shop", "Fly.io")}),
        ("Do not use Redis.", "uses", set()),
        ("Should we use Redis?", "uses", set()),
        (
            "`refKind` in `internal/cart/total.go` decides.",
            "part_of",
            {("refKind", "internal/cart/total.go")},
        ),
        ("Use uv instead of pip.", "replaced_by", {("pip", "uv")}),
        (
            "We moved from Jenkins to Buildkite for deploys.",
            "replaced_by",
            {("Jenkins", "Buildkite")},
        ),
        ("We moved from Jenkins to `total.go` somehow.", "replaced_by", set()),
    ],
)
def test_what_is_stated_becomes_a_relation(text: str, kind: str, wanted: set):
    assert told(memories(text), kind) == wanted


def test_only_memories_whose_words_changed_are_read_again(monkeypatch: pytest.MonkeyPatch):
    before = memories("Use Redis.", "Use Kafka.")
    known = read_mentions(before, tables.empty("mentions"))
    read: list[str] = []
    monkeypatch.setattr(
        mentions_module, "_read", lambda memory, hash: read.append(memory["id"]) or []
    )
    after = memories("Use Redis.", "Use Postgres.", "Use RabbitMQ.")
    read_mentions(after, known)
    assert read == ["m1", "m2"]


def test_reading_again_or_in_another_order_gives_the_same_graph():
    found = memories(
        "Use uv instead of pip in `ci.yml`.",
        "`.github/ci.yml` runs `make check --all`.",
        "k8s and Redis.",
    )
    once = graph(found)
    again = graph(found.reverse())
    assert once[0].equals(again[0]) and once[1].equals(again[1])
    said = read_mentions(found, tables.empty("mentions"))
    assert read_mentions(found, said).equals(said)


def test_a_picture_of_nothing_says_so():
    assert "Nothing is named together yet" in render_picture(
        tables.empty("entities"), tables.empty("relations")
    )


def test_what_two_messages_of_a_session_name_is_an_entity_without_any_fact():
    at = {"started_at": START, "ended_at": START}
    sessions = frame(
        "sessions", row("sessions", session_id="s1", project="shop", person="mira", **at)
    )
    texts = pl.DataFrame(
        [
            ("s1", "text", "Deploy the checkout with `src/deploy.py` on Buildkite, see ADR-7."),
            ("s1", "tool_call", '[toolCall Read({"file_path":"src/deploy.py"})]'),
            ("s1", "tool_call", '[toolCall Bash({"command":"kubectl get pods"})]'),
            ("s1", "text", "Buildkite ran `kubectl get`; `file_path` is its argument."),
        ],
        schema=["session_id", "kind", "text"],
        orient="row",
    )
    sources, none = sessions_of(sessions), memories()
    mentions = read_session_mentions(sources, texts, tables.empty("mentions"))
    resolved = read_mentions(none, tables.empty("mentions"), mentions, sources)
    columns = ["id", "project", "first_event_at", "event_at"]
    entities = build_entities(resolved, sources.select(columns))
    tables.check("entities", entities)
    names = set(entities.select("kind", "name").iter_rows())
    things = {("file", "src/deploy.py"), ("service", "Buildkite"), ("command", "kubectl get")}
    assert names == things | {("project", "shop"), ("person", "mira")}
    assert (
        read_session_mentions(sources, texts, resolved).sort("name").equals(resolved.sort("name"))
    )
