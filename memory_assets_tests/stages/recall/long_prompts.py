"""Reads `long_prompts.toml`: prompts that carry several needs, as cases over the facts of `leaving_out.toml`."""

import tomllib
from pathlib import Path

from memory_assets_tests.stages.recall.leaving_out import Case, suite

PROMPTS = Path(__file__).with_name("long_prompts.toml")


def prompts() -> list[Case]:
    """Returns the prompts in the order of the file."""
    return [
        Case(
            one["id"], "long prompt", one["question"], frozenset(one["must"]), frozenset(one["never"]),
            {"project": one["project"], "asker": one.get("person", suite()["asker"])},
        )
        for one in tomllib.loads(PROMPTS.read_text("utf-8"))["prompts"]
    ]  # fmt: skip
