"""A name that the best memory has and the question does not brings in the few other memories that name it."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.adapters.text_index import TextIndex
from memory_assets.stages.recall.linked_memories import MOST_NAMED
from memory_assets.stages.recall.results import Answer, Asker
from memory_assets.stages.recall.search import Corpus, search
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.stages.recall.recalled import indexed

FACTS = {
    "failure": ("The checkout fails with E_STOCK_017 in src/app.py after `ledger check`.", {}),
    "cure": ("E_STOCK_017 goes away after a restart of the worker.", {}),
    "older": ("E_STOCK_017 cannot be cured.", {"state": "superseded"}),
    "away": ("E_STOCK_017 is harmless here.", {"project": "blog"}),
    "other": ("E_STOCK_018 needs more disk.", {}),
    "half": ("`ledger count` runs at night.", {}),
    "far": ("Deploys happen on Tuesdays.", {}),
} | {f"app{number}": (f"src/app.py has part {number}.", {}) for number in range(MOST_NAMED)}


def ask(folder: Path, question: str, **options) -> Answer:
    plain = {"scope": "project", "project": "shop", "kind": "fact", "event_at": START}
    rows = [
        row("memories", id=id, text=text, **plain | changes)
        for id, (text, changes) in FACTS.items()
    ]
    indexed(
        folder,
        [(id, "memories", text) for id, (text, _) in FACTS.items()],
        "id corpus text",
        "memories",
    )
    corpus = Corpus(frame("memories", *rows), TextIndex(folder))
    return search(question, corpus, Asker(START + timedelta(days=1), "shop"), **options)


def links(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    return [(result.memory_id, result.tags) for result in answer.results]


def test_what_shares_an_error_with_the_best_memory_follows_it_with_the_name_that_links_them(
    tmp_path: Path,
):
    """Not what was replaced, what another project says, or what shares half a name or one that many memories have."""
    answer = ask(tmp_path, "why does the checkout fail?")
    assert links(answer) == [("failure", ()), ("cure", ("linked:E_STOCK_017",))]


@pytest.mark.parametrize(
    "options", [{"profile": "lean"}, {"profile": "budget"}, {"corpora": ("memories",)}]
)
def test_where_few_results_or_everything_is_asked_for_nothing_is_linked(
    tmp_path: Path, options: dict
):
    assert not any(
        tags for _, tags in links(ask(tmp_path, "why does the checkout fail?", **options))
    )


def test_a_name_of_the_question_links_nothing(tmp_path: Path):
    answer = ask(tmp_path, "does the checkout fail with E_STOCK_017?")
    assert not any(tags for _, tags in links(answer))
