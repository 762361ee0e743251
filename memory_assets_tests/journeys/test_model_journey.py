"""With a model: the real SDK against a local server, from the question to a line that explains itself; killed and resumed."""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.services.models.model_questions import asked_about
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.reflect.subjects import TABLE_OF
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW, SHARED
from memory_assets_tests.messages_api import KEY, Fault, MessagesApi, Said, serve
from memory_assets_tests.once import only_whole, sampled
from memory_assets_tests.recorded import RecordedAnswers
from memory_assets_tests.story import (
    all_tables,
    assert_same_tables,
    delete_derived,
    lay_out_sample,
    run,
    start,
)

pytestmark = pytest.mark.slow
MODEL = "claude-haiku-4-5"
MEASURED = ("seconds", "cache_read_tokens", "cache_write_tokens", "input_tokens", "cost_usd")
"""What depends on the moment at which a question was put."""


def material_of(body: dict[str, Any]) -> str:
    return body["messages"][0]["content"][-1]["text"]


def about_windows(api: MessagesApi) -> list[str]:
    """What the observer was asked, without what was asked about whole days, weeks and months."""
    fences = ("quoted transcript", "quoted session")
    return [
        material
        for body in api.questions()
        if any(fence in (material := material_of(body)) for fence in fences)
    ]


def dutiful(body: dict[str, Any]) -> str:
    """An observer that writes down what the owner said, of each short session in a part of its own."""
    sessions = re.split(r"=== quoted session \d+ \w+ begins ===", material_of(body))[1:]
    if sessions:
        return "\n".join(
            f'<session number="{n}">{"".join(said_in(one))}</session>'
            for n, one in enumerate(sessions, 1)
        )
    facts = said_in(material_of(body))
    return f"<observations><segment><narrative>Work.</narrative><facts>\n{''.join(facts)}\n</facts></segment></observations>"


def said_in(material: str) -> list[str]:
    said = re.findall(r"^\[\d\d:\d\d\] OWNER: (.{20,200})$", material, re.M)
    return [
        f"\n* 🔴 [gate=allow confidence=0.9 category=rules-conventions] The owner: “{text}”"
        for text in said
    ]


def variables(api: MessagesApi, **more: str) -> dict[str, str]:
    named = {
        "MEMORY_MODEL": MODEL,
        "MEMORY_MODEL_URL": api.url,
        "ANTHROPIC_API_KEY": KEY,
        "MEMORY_MODEL_RETRIES": "1",
    }
    return {**named, "MEMORY_MODEL_PRICES": json.dumps({MODEL: {"input": 1, "output": 5}}), **more}


def open_at(data: Path, sources: Path, **more: Any) -> Store:
    more |= {"owner": "mira", "timezone": "UTC", "now": NOW, "model": MODEL}
    return open_store(read_settings(data=data, sources=str(sources), **more))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out_sample(
        tmp_path_factory.mktemp("sources") / "transcripts",
        "-code-harbor-cli--",
        "-code-tidewatch--",
    )


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, sources: Path
) -> Iterator[tuple[Path, MessagesApi]]:
    data = tmp_path_factory.mktemp("model") / "store"
    with serve(dutiful) as api:
        run("ingest", data, sources, **variables(api))
        yield data, api


def test_every_window_was_asked_about_and_its_answer_went_all_the_way(
    undisturbed: tuple[Path, MessagesApi], sources: Path
):
    data, api = undisturbed
    store = open_at(data, sources)
    answers, facts = (
        store.tables.read("observer_answers"),
        store.tables.read("observations").filter(pl.col("kind") == "fact"),
    )
    asked = asked_about(store.tables.read("windows"))
    assert sorted(answers["window_id"]) == sorted(asked["window_id"])
    assert (set(answers["state"]), answers["cost_usd"].min() > 0) == ({"answered"}, True)
    assert set(answers["parse_path"]) == {
        "segments",
        "flat",
    }  # flat: a part of an answer about several short sessions
    short = asked.filter(status="short").height
    assert len(about_windows(api)) == answers.height - short + 1
    assert (set(facts["observer"]), set(facts["prompt_hash"])) == (
        {MODEL},
        set(answers["prompt_hash"]),
    )
    assert set(facts.filter(gate="allow")["author"]) == {"owner"}
    vectors = store.tables.read("embeddings")["text_hash"]
    assert set(facts["text_hash"]) <= set(vectors)
    agent, fact = (
        MemoryAgent(store.settings),
        facts.filter(pl.col("gate") == "allow").row(0, named=True),
    )
    found = agent.recall(fact["text"], probe=True)
    assert fact["text"] in [result.text for result in found.results]
    assert '"is_unchanged": true, "holds_quote": true' in json.dumps(
        agent.explain(fact["id"]), default=vars
    )


@only_whole("the kills in the middle of a batch hold that no answer is paid for twice")
def test_making_everything_again_calls_nobody(undisturbed: tuple[Path, MessagesApi], sources: Path):
    data, api = undisturbed
    before, asked = all_tables(open_at(data, sources)), len(api.requests)
    delete_derived(data)
    run("ingest", data, sources, **variables(api))
    run("data backfill", data, sources, **variables(api))
    assert len(api.requests) == asked
    assert_same_tables(all_tables(open_at(data, sources)), before)


def killed_at(
    api: MessagesApi,
    data: Path,
    sources: Path,
    is_moment: Callable[[dict[str, Any]], bool],
    **more: str,
) -> bool:
    """Starts an ingest and kills it when the server sees the moment; returns whether it came to that."""
    process = start("ingest", data, sources, **variables(api, **more))
    is_killed = []

    def kill(entry: dict[str, Any]) -> None:
        if not is_killed and is_moment(entry):
            is_killed.append(True)
            os.killpg(process.pid, signal.SIGKILL)

    api.on_request = kill
    try:
        process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        api.on_request = lambda entry: None
    return bool(is_killed)


def without_measures(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Without what depends on the moment and the way of asking; the price does, by the server's cache."""
    reflected = {table: tables[table].drop("cost_usd") for table in TABLE_OF.values()}
    return {
        **tables,
        **reflected,
        "observer_answers": tables["observer_answers"].drop(*MEASURED, "is_batch"),
    }


@only_whole("the kills in the middle of a batch hold the same")
def test_killed_it_asks_again_only_what_was_under_way(
    tmp_path: Path, undisturbed: tuple[Path, MessagesApi], sources: Path
):
    data, numbers = tmp_path / "store", sampled((2, 5), 1)
    with serve(dutiful) as api:
        for number in numbers:
            count = iter(range(1, 1_000))
            assert killed_at(
                api,
                data,
                sources,
                lambda _, count=count, at=number: next(count) == at,
                MEMORY_MODEL_AT_ONCE="1",
            )
        assert len(list(AnswerStore(data / "answers").every())) == len(api.questions()) - len(
            numbers
        )
        run("ingest", data, sources, **variables(api))
        asked = Counter(about_windows(api))
        assert sum(count - 1 for count in asked.values()) == len(numbers)
    expected = without_measures(all_tables(open_at(undisturbed[0], sources)))
    assert_same_tables(without_measures(all_tables(open_at(data, sources))), expected)


MOMENTS_OF_A_BATCH = (
    lambda entry: entry["method"] == "POST",
    lambda entry: entry["path"].endswith("/results"),
)


def test_whenever_a_batch_is_killed_nothing_is_paid_twice(
    tmp_path: Path, undisturbed: tuple[Path, MessagesApi], sources: Path
):
    data, how = tmp_path / "store", {"MEMORY_MODEL_BATCHES": "always"}
    with serve(dutiful, polls_needed=0) as api:
        for is_moment in sampled(MOMENTS_OF_A_BATCH, 1):
            assert killed_at(api, data, sources, is_moment, **how)
        run("ingest", data, sources, **variables(api, **how))
        asked = Counter(about_windows(api))
        assert set(asked.values()) == {1}
    store = open_at(data, sources)
    assert store.tables.read("observer_answers")["is_batch"].all()
    assert_same_tables(
        without_measures(all_tables(store)),
        without_measures(all_tables(open_at(undisturbed[0], sources))),
    )


def stopped(api: MessagesApi, data: Path, sources: Path, **more: str) -> str:
    """What an ingest says that fails."""
    process = start("ingest", data, sources, **variables(api, **more))
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert not re.search("traceback|stack trace|dagster", out + errors, re.IGNORECASE)
    return out + errors


def test_a_run_that_is_stopped_says_what_to_do_and_a_later_one_asks_only_for_the_rest(
    tmp_path: Path, sources: Path
):
    data, busy = (
        tmp_path / "store",
        Fault(529, "overloaded_error", headers={"retry-after-ms": "10"}),
    )
    with serve(dutiful) as api:
        assert "MEMORY_MODEL_MOST_USD" in stopped(api, data, sources, MEMORY_MODEL_MOST_USD="0.001")
        assert api.requests == []
        assert "does not accept the key" in stopped(api, data, sources, ANTHROPIC_API_KEY="wrong")
    with serve(lambda body: busy) as api:
        assert (
            '"type":"ModelBusyError","message":"claude-haiku-4-5 is busy (529 overloaded_error)'
            in stopped(api, data, sources, MEMORY_MODEL_RETRIES="0")
        )

    refused, overloads = list[str](), [busy]

    def answer(body: dict[str, Any]) -> str | Said | Fault:
        if not refused or refused == [material_of(body)]:
            refused[:] = [material_of(body)]
            return Said("", "refusal")
        return overloads.pop() if overloads and len(api.requests) == 3 else dutiful(body)

    with serve(answer) as api:
        for _ in range(2):
            run(
                "ingest",
                data,
                sources,
                **variables(api, MEMORY_MODEL_RETRIES="0", MEMORY_MODEL_AT_ONCE="1"),
            )
        asked = Counter(about_windows(api))
    store = open_at(data, sources)
    answers = store.tables.read("observer_answers")
    assert sorted(asked.values()) == [
        *[1] * (answers.height - 1),
        2,
    ]  # the one that met the overload
    assert sorted(answers["state"]) == [*["answered"] * (answers.height - 1), "refused"]
    (row,) = answers.filter(state="refused").to_dicts()
    own = store.tables.read("verdicts").filter(pl.col("window_id") == row["window_id"])
    assert (row["problem"], set(own["parse_path"])) == ("The model refused.", {"rules"})


def test_a_run_of_which_nothing_came_fails_says_why_and_repeats_nothing_unless_a_person_asks(
    tmp_path: Path, sources: Path
):
    data, web_page = tmp_path / "store", Fault(200, raw=b"<html>log in</html>")
    faults = [web_page, "", Said("", "refusal"), "I cannot help with this.", Said("", "max_tokens")]

    def fails(body: dict[str, Any]) -> str | Said | Fault:
        return faults[len(material_of(body)) % len(faults)]

    with serve(fails) as api:
        process = start("ingest", data, sources, **variables(api))
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 1
        assert re.search(r"Nothing came of \d+ questions to claude-haiku-4-5: ", out)
        asked = Counter(about_windows(api))
        run("ingest", data, sources, **variables(api))
        assert Counter(about_windows(api)) == asked
        status = run("status", data, sources, **variables(api))
    store = open_at(data, sources)
    answers = store.tables.read("observer_answers")
    assert set(answers["state"]) <= {"refused", "unusable", "cut"}
    assert answers["attempts"].min() >= 1 and answers["problem"].drop_nulls().len()
    assert re.match(
        r"\d+ questions? to a model came to nothing: .*`memory data backfill`", status["unanswered"]
    )

    def answers_all(body: dict[str, Any]) -> str:
        fact = re.search(r"^🔴 .{9,250}\[mem_\w+\]$", material_of(body), re.M)
        return f"- {fact[0]}" if fact else dutiful(body)

    with serve(answers_all) as api:
        built = run("data backfill", data, sources, **variables(api))
    answers = open_at(data, sources).tables.read("observer_answers")
    assert set(answers["state"]) == {"answered"}
    assert (built["status"]["unanswered"], built["model_failure"]) == ("", "")


RECORDED = sampled(sorted((SHARED / "recorded").glob("*.answer.xml")), 2)


@only_whole("`test_harness_models.py` takes recorded answers through the pipeline, too")
@pytest.mark.skipif(
    not RECORDED, reason=f"no recorded answers: {SHARED / 'recorded'} does not exist"
)
def test_the_recorded_answers_go_through_the_whole_pipeline(tmp_path: Path, real_transcripts: Path):
    chosen, data = tmp_path / "transcripts", tmp_path / "store"
    recorded = RecordedAnswers(RECORDED, real_transcripts, chosen)
    sessions = recorded.sessions
    with serve(recorded.answer) as api:
        how = {"MEMORY_SHORT_TURNS": "1"}
        count = iter(range(1, 1_000))
        assert killed_at(api, data, chosen, lambda entry: next(count) == 4, **how)
        run("ingest", data, chosen, **variables(api, **how))
        store = open_at(data, chosen)
        answers = store.tables.read("observer_answers")
        asked = Counter(about_windows(api))
        assert sum(count - 1 for count in asked.values()) <= 4  # those under way when it was killed
    assert not recorded.unknown
    assert set(answers["session_id"]) == set(sessions)
    # Recorded answers are about whole sessions: of one with several windows, the answer may be mostly about another window.
    alone = answers.filter(pl.col("window_id").n_unique().over("session_id") == 1)
    assert set(alone["state"]) <= {"answered"}
    assert set(answers.filter(state="answered")["session_id"]) == set(sessions)
    assert set(answers["state"]) <= {"answered", "unusable"}
    assert "raw" not in set(answers["parse_path"])
    facts = store.tables.read("observations").filter(
        (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    )
    assert set(facts["session_id"]) == set(sessions)
    assert set(facts["text_hash"]) <= set(store.tables.read("embeddings")["text_hash"])
    agent = MemoryAgent(store.settings)
    for session in sessions:
        fact = facts.filter(pl.col("session_id") == session).sort("id").row(0, named=True)
        assert session in [
            result.session for result in agent.recall(fact["text"], probe=True).results
        ]
        assert '"is_unchanged": true, "holds_quote": true' in json.dumps(
            agent.explain(fact["id"]), default=vars
        )
