"""Markdown in, sentences out: nothing but prose is prose, marks go, what leads to a sentence is known."""

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.sentences import capitalised, split_message, split_sentences


def texts(message: str) -> list[str]:
    return [sentence.text for sentence in split_message(message)]


def test_a_dot_in_a_name_ends_no_sentence():
    first, second = split_sentences("Bumped v1.2.3 in go.mod, e.g. for CI. It builds.")
    assert (first, second) == ("Bumped v1.2.3 in go.mod, e.g. for CI.", "It builds.")


def test_code_blocks_tables_and_directives_are_not_prose():
    message = "The cache is stale.\n\n```sh\nrm -rf .cache\nmake\n```\n\n| a | b |\n\n::git-push{branch=x}"
    assert [(s.text, s.place) for s in split_message(message)] == [
        ("The cache is stale.", "prose"),
        ("| a | b |", "table"),
    ]


def test_a_command_completes_the_sentence_that_announces_it():
    assert texts("Run it with:\n\n```sh\n# all of them\nmise run test:ssh\n```") == [
        "Run it with: `mise run test:ssh`"
    ]


def test_a_bullet_knows_the_line_that_leads_to_it():
    found = split_message("## Result\n\nTwo things changed:\n- `a.py` is gone\n- `b.py` is new")
    assert [(s.text, s.lead) for s in found if s.place == "bullet"] == [
        ("`a.py` is gone", "Two things changed"),
        ("`b.py` is new", "Two things changed"),
    ]


def test_common_words_get_a_capital_and_names_in_code_keep_theirs():
    common = {
        "use uv.": "Use uv.",
        "don't": "Don't",
        "note: it works": "Note: it works",
        "run.": "Run.",
    }
    names = [
        "pkg/ holds the API",
        "useState is enough",
        "x86 only",
        "uv.lock is generated",
        "`make` first",
        "",
        "5432",
    ]
    assert {text: capitalised(text) for text in common} == common
    assert [capitalised(text) for text in names] == names


@given(st.text())
def test_any_text_can_be_split(text: str):
    assert all(sentence.text.strip() for sentence in split_message(text))
