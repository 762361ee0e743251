"""The briefing keeps its budget: the owner's and each project's."""

from memory_assets.runs.scopes import BRIEFINGS
from memory_assets.stages.brief.briefing import BUDGET_TOKENS, PACK_SHARE
from memory_assets.text.words import CHARS_A_TOKEN
from memory_assets_tests.assets.checks.outcomes import failing
from memory_assets_tests.dagster_runs import run_check
from memory_assets_tests.small_store import small_store


def test_a_briefing_over_its_budget_fails_and_names_its_tokens():
    store = small_store()
    assert failing(store, "briefing") == []
    project = store.workspace / BRIEFINGS / "shop.md"
    project.parent.mkdir()
    project.write_text("word " * int(BUDGET_TOKENS * CHARS_A_TOKEN))
    assert failing(store, "briefing") == ["within_budget"]
    assert f"| {BRIEFINGS}/shop.md | short |" in str(
        run_check(store, "briefing", "within_budget").metadata["examples"].value
    )
    project.write_text("word")
    full = store.workspace / BRIEFINGS / "full" / BRIEFINGS / "shop.md"
    full.parent.mkdir(parents=True)
    full.write_text("word " * int(BUDGET_TOKENS * CHARS_A_TOKEN))
    assert failing(store, "briefing") == []
    full.write_text("word " * int(PACK_SHARE * store.settings.context_tokens * CHARS_A_TOKEN))
    assert failing(store, "briefing") == ["within_budget"]
