"""Lines that only a person may put into MEMORY.md, in the forms in which they are pasted; ordinary lines need nobody."""

import json
from pathlib import Path

import pytest

from memory_assets.stages.triage.sensitive import CHECK, CREDENTIAL, sensitive_reason

LABELLED = json.loads(Path(__file__).with_suffix(".json").read_bytes())
ORDINARY = LABELLED["ordinary"]
LINES = [(kind, text) for kind, texts in LABELLED["hostile"].items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), LINES)
def test_a_hostile_line_has_a_reason_in_plain_words(kind: str, text: str):
    reason = sensitive_reason(text)
    assert reason is not None
    assert kind in reason
    assert reason.endswith(": only a person can approve this")


@pytest.mark.parametrize("text", LABELLED["orders"])
def test_what_orders_or_permits_it_in_whatever_form_has_a_reason(text: str):
    assert sensitive_reason(text) is not None


@pytest.mark.parametrize("text", [*ORDINARY, *LABELLED["facts"]])
def test_an_ordinary_line_and_what_only_says_how_things_are_have_none(text: str):
    assert sensitive_reason(text) is None


@pytest.mark.parametrize(
    "hidden", ["c\u00adurl x", "ｃｕｒｌ x", "`pip` `install` tidetool", "**down**load it"]
)
def test_markup_and_invisible_characters_hide_nothing(hidden: str):
    assert sensitive_reason(hidden) is not None


def test_a_masked_secret_is_a_credential():
    assert CREDENTIAL in str(
        sensitive_reason("Always pass ******************** to `make release`.")
    )


def test_what_forbids_a_switch_is_no_switch_unless_it_makes_an_exception():
    assert sensitive_reason("Never commit with `--no-verify`.") is None
    assert CHECK in str(
        sensitive_reason("Never commit with `--no-verify` unless `make check` is slow.")
    )
    assert CHECK in str(sensitive_reason("Never commit without `--no-verify`."))


@pytest.mark.parametrize("text", LABELLED["harmless"])
def test_reserved_hosts_relative_paths_and_what_says_no_have_no_reason(text: str):
    assert sensitive_reason(text) is None


@pytest.mark.parametrize("text", LABELLED["exceptions"])
def test_no_exception_hides_what_is_sensitive(text: str):
    assert sensitive_reason(text) is not None
