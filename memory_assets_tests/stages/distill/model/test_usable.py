"""Answers that can be used, and those that have to be asked for again."""

import pytest

from memory_assets.stages.distill.model.usable import IS_EMPTY, IS_PROSE, IS_UNSUPPORTED, fault_of
from memory_assets_tests.stages.distill.sessions import said

ROWS = said(
    ("owner", "use uv here, never pip"),
    ("assistant", "`uv sync` installs everything from `uv.lock` into the environment."),
)
GOOD = "- 🔴 [gate=allow confidence=0.9] Use uv here, never pip"
INVENTED = [
    "Kubernetes ingress certificates rotate quarterly",
    "The billing dashboard reads from a Postgres replica",
    "Mobile builds are signed on a separate machine",
]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", IS_EMPTY),
        ("  \n", IS_EMPTY),
        ("I am sorry, but I cannot help with this.", IS_PROSE),
        ("I cannot do this because:\n- it has private data\n- it is too long", IS_PROSE),
        ("<obser", IS_PROSE),
        ("Here are the facts:\n- Use uv here, never pip\n- The ingress rotates quarterly", ""),
        ("<observations></observations>", ""),
        ('{"hasMemory": false}', ""),
        (
            "<observations><segment><narrative>Small talk.</narrative><facts></facts></segment></observations>",
            "",
        ),
        (GOOD, ""),
        ("\n".join([GOOD, *(f"- 🟡 [gate=allow] {text}" for text in INVENTED)]), IS_UNSUPPORTED),
        ("\n".join([GOOD, f"- 🟡 [gate=allow] {INVENTED[0]}"]), ""),
    ],
)
def test_an_answer_is_used_if_it_has_facts_that_rest_on_the_transcript_or_says_that_there_are_none(
    text: str, fault: str
):
    assert fault_of(text, ROWS) == fault
