"""What stands around a name: found by any of its names, stated relations first, with the memories that say so."""

from collections.abc import Sequence
from datetime import timedelta

import polars as pl
import pytest
from rich.console import Console

from memory_assets.interfaces.views.origin import render_related
from memory_assets.interfaces.views.terminal import show
from memory_assets.schema import frames as tables
from memory_assets.stages.embed.graph import build_entities, build_relations
from memory_assets.stages.embed.mentions import read_mentions
from memory_assets.stages.recall.neighbourhood import Neighbourhood, find_neighbourhood
from memory_assets_tests.factories import START, frame, row

TEXTS = (
    "The shop uses Postgres 16.",
    "Use uv instead of pip.",
    "`internal/cart/total.go` reads Postgres.",
    "ADR-12 chose Redis.",
    "Redis and `internal/cart/total.go` were measured.",
)


def ask(name: str, own: dict[str, list[str]] | None = None, forgotten: Sequence[str] = ()) -> Neighbourhood:
    plain = {"state": "active", "project": "shop", "person": "mira"}
    rows = [
        row(
            "memories",
            id=f"m{n}",
            text=text,
            wordings=[text],
            first_event_at=START,
            event_at=START + timedelta(days=n),
            **plain,
        )
        for n, text in enumerate(TEXTS)
    ]
    memories = frame("memories", *rows)
    mentions = read_mentions(memories, tables.empty("mentions"))
    entities = build_entities(mentions, memories, own)
    relations = build_relations(mentions, entities, memories)
    known = memories.with_columns(state=pl.when(pl.col("id").is_in(forgotten)).then(pl.lit("forgotten")).otherwise("state"))
    return find_neighbourhood(name, {"entities": entities, "relations": relations, "mentions": mentions}, known, own)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("postgres", "PostgreSQL"), ("PG", "PostgreSQL"), ("total.go", "internal/cart/total.go"), ("adr 12", "ADR-0012"),
        ("cart/total.go", "internal/cart/total.go"), ("ADR-0012", "ADR-0012"), ("mira", "mira"), ("Shop", "shop"),
    ],
)  # fmt: skip
def test_a_name_is_found_by_what_people_call_it(asked: str, name: str):
    assert [known.name for known in ask(asked).entities] == [name]


def test_the_owners_own_name_finds_it_too():
    assert [known.name for known in ask("elephant", {"postgresql": ["elephant"]}).entities] == ["PostgreSQL"]


def test_stated_relations_come_first_and_tell_their_direction():
    (pip,), (uv,) = ask("pip").entities, ask("uv").entities
    assert [(one.relation, one.is_reverse, one.name) for one in pip.related] == [("replaced_by", False, "uv")]
    assert [(one.relation, one.is_reverse, one.name) for one in uv.related[:1]] == [("replaced_by", True, "pip")]
    (shop,) = ask("shop").entities
    assert {(one.relation, one.name) for one in shop.related} == {("uses", "PostgreSQL"), ("uses", "uv")}


def test_the_newest_memories_that_name_it_are_shown():
    (redis,) = ask("redis").entities
    assert [memory.text for memory in redis.memories] == [TEXTS[4], TEXTS[3]]
    assert redis.memory_count == 2


def test_what_only_forgotten_memories_name_is_not_there_any_more():
    """Forgetting is laid over at once; the tables follow with the next fold."""
    assert ask("pip", forgotten=["m1"]).entities == ()
    (redis,) = ask("redis", forgotten=["m3"]).entities
    assert [memory.text for memory in redis.memories] == [TEXTS[4]]
    assert "ADR-0012" not in {one.name for one in redis.related}


def test_an_unknown_name_gets_the_names_that_hold_it():
    found = ask("cart")
    assert (found.entities, found.similar) == ((), ("internal/cart/total.go",))
    assert ask("").entities == ask("zebra").similar == ()


def test_it_is_drawn_for_people(capsys: pytest.CaptureFixture[str]):
    console = Console(width=120)
    for name in ("pip", "uv", "redis", "cart", "zebra"):
        show(render_related(ask(name)), console)
    shown = capsys.readouterr().out
    for words in (
        "was replaced by uv (tool) ×1",
        "replaced pip",
        "ADR-12 chose Redis.",
        "Similar names: internal/cart",
        "'zebra'",
    ):
        assert words in shown
