"""The real SDK against a local server that answers as the API does, with its errors, overloads and refusals."""

import subprocess
import sys
from datetime import timedelta

import pytest

from memory_assets.adapters.anthropic_model import PLACEHOLDER_KEY, AnthropicModel
from memory_assets.errors import ModelBusyError, ModelError, ModelRequestError, ModelSetupError
from memory_assets.protocols import Image, ModelRequest
from memory_assets_tests.messages_api import CREATED, KEY, OVERLOADED, Answer, Fault, Said, serve

SECRET_WORDS = "the transcript says xyzzy"
REQUEST = ModelRequest("You observe.", SECRET_WORDS, 100)
NAME = "claude-haiku-4-5"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")


def ask(answer: Answer, request: ModelRequest = REQUEST, *, name: str = NAME, retries: int = 0, timeout: float = 5.0):
    with serve(answer) as api:
        return AnthropicModel(name, url=api.url, timeout_seconds=timeout, retries=retries).ask(request), api


def failure(answer: Answer, **how) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(answer, **how)
    message = str(caught.value)
    assert "xyzzy" not in message
    assert KEY not in message
    return caught.value


def test_an_answer_comes_with_what_it_took():
    answer, _ = ask(lambda body: "said")
    assert (answer.text, answer.model, answer.stop_reason) == ("said", f"{NAME}-20251001", "end_turn")
    assert (answer.input_tokens, answer.output_tokens) == (len(SECRET_WORDS) // 4, 1)
    assert (answer.cache_write_tokens, answer.cache_read_tokens, answer.is_batch) == (len("You observe.") // 4, 0, False)
    assert answer.seconds > 0
    assert answer.raw["id"] == "msg_00000001"


def test_the_fixed_part_is_marked_for_the_cache_and_nothing_streams():
    _, api = ask(lambda body: "said")
    (body,) = api.questions()
    assert body["system"] == [{"type": "text", "text": "You observe.", "cache_control": {"type": "ephemeral"}}]
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": SECRET_WORDS}]}]
    assert (body["model"], body["max_tokens"], "stream" in body) == (NAME, 100, False)


def test_pictures_come_before_the_text_each_with_its_number():
    _, api = ask(lambda body: "seen", ModelRequest("s", "text", 10, (Image("image/png", b"png"), Image("image/jpeg", b"jpg"))))
    (body,) = api.questions()
    label, first, _, second, last = body["messages"][0]["content"]
    assert label["text"] == "Image 1:"
    assert first["source"] == {"type": "base64", "media_type": "image/png", "data": "cG5n"}
    assert second["source"]["media_type"] == "image/jpeg"
    assert last["text"] == "text"


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "model_context_window_exceeded"])
def test_cut_answers_and_refusals_are_answers(reason: str):
    answer, _ = ask(lambda body: Said("" if reason == "refusal" else "half", reason))
    assert answer.stop_reason == reason


def test_an_overload_is_retried_by_the_sdk():
    faults = [OVERLOADED, Fault(429, "rate_limit_error", headers={"retry-after-ms": "1"})]
    answer, api = ask(lambda body: faults.pop() if faults else "said", retries=3)
    assert (answer.text, len(api.requests)) == ("said", 3)


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (Fault(401, "authentication_error"), ModelSetupError, "ANTHROPIC_API_KEY"),
        (Fault(403, "permission_error"), ModelSetupError, "MEMORY_MODEL"),
        (Fault(404, "not_found_error"), ModelSetupError, "MEMORY_MODEL"),
        (Fault(402, "billing_error"), ModelSetupError, "credit"),
        (Fault(400, "invalid_request_error", "Your credit balance is too low"), ModelSetupError, "credit"),
        (Fault(400, "invalid_request_error", "messages: xyzzy"), ModelRequestError, "400 invalid_request_error"),
        (Fault(413, "request_too_large"), ModelRequestError, "413 request_too_large"),
        (OVERLOADED, ModelBusyError, "529 overloaded_error"),
        (Fault(500, "api_error"), ModelBusyError, "500 api_error"),
        (Fault(200, raw=b"<html>gateway</html>", headers={"content-type": "text/html"}), ModelError, "MEMORY_MODEL_URL"),
        (Fault(200, raw=b"", headers={"content-type": "application/json"}), ModelError, "MEMORY_MODEL_URL"),
        (Fault(200, raw=b"[]", headers={"content-type": "application/json"}), ModelError, "MEMORY_MODEL_URL"),
        (Fault(200, raw=b'{"content":[]}', headers={"content-type": "application/json"}), ModelError, "usage"),
        (Fault(is_dropped=True), ModelBusyError, "Cannot reach"),
    ],
)
def test_each_failure_ends_as_good_sense_suggests(fault: Fault, kind: type[ModelError], says: str):
    error = failure(lambda body: fault)
    assert type(error) is kind
    assert says in str(error)


def test_the_servers_wish_to_be_left_alone_is_handed_on():
    error = failure(lambda body: Fault(429, "rate_limit_error", headers={"retry-after": "17"}))
    assert isinstance(error, ModelBusyError)
    assert error.retry_after_seconds == 17
    assert "left alone for 17 s" in str(error)


def test_an_answer_that_takes_too_long_is_given_up():
    error = failure(lambda body: Said("late", seconds=1.0), timeout=0.2)
    assert isinstance(error, ModelBusyError)
    assert "within 0.2 s" in str(error)


def test_an_unknown_model_is_named():
    error = failure(lambda body: "said", name="claude-nobody")
    assert isinstance(error, ModelSetupError)
    assert "'claude-nobody'" in str(error)


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(ModelBusyError, match="Cannot reach http://127.0.0.1:9"):
        AnthropicModel(NAME, url="http://127.0.0.1:9", retries=0).ask(REQUEST)


def test_a_local_runtime_is_sent_no_real_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with serve(lambda body: "said") as api:
        with pytest.raises(ModelSetupError):
            AnthropicModel(NAME, url=api.url, retries=0).ask(REQUEST)
        headers = api.requests[0]["headers"]
    assert headers.get("x-api-key", headers.get("authorization")) in (PLACEHOLDER_KEY, f"Bearer {PLACEHOLDER_KEY}")


def test_without_a_key_nothing_is_sent_to_the_vendor(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelSetupError, match="ANTHROPIC_API_KEY"):
        AnthropicModel(NAME, retries=0, timeout_seconds=0.5).ask(REQUEST)


def test_a_batch_goes_from_handing_in_to_results():
    with serve(lambda body: body["messages"][0]["content"][0]["text"].upper(), polls_needed=1) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        batch = model.submit({"a": ModelRequest("s", "one"), "b": ModelRequest("s", "two")})
        assert (batch.is_ended, batch.counts["processing"]) == (False, 2)
        assert not model.batch(batch.id).is_ended
        assert model.batch(batch.id).is_ended
        results = dict(model.results(batch.id))
        assert {name: answer.text for name, answer in results.items()} == {"a": "ONE", "b": "TWO"}
        assert all(answer.is_batch for answer in results.values())


def test_results_that_are_no_answers_are_errors_of_their_kind():
    faults = {"expired": Fault(kind="expired"), "bad": Fault(kind="invalid_request_error"), "busy": OVERLOADED}
    with serve(lambda body: faults[body["messages"][0]["content"][0]["text"]], polls_needed=0) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        batch = model.submit({name: ModelRequest("s", name) for name in faults})
        kinds = {name: type(error) for name, error in model.results(batch.id)}
        assert kinds == {"expired": ModelBusyError, "bad": ModelRequestError, "busy": ModelBusyError}


def test_batches_are_listed_the_latest_first_back_to_a_moment():
    with serve(lambda body: "said") as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        ids = [model.submit({"a": REQUEST}).id for _ in range(3)]
        found = model.batches(CREATED + timedelta(minutes=2))
        assert [batch.id for batch in found] == [ids[2], ids[1]]


def test_a_batch_that_nobody_knows_is_a_question_that_cannot_be_asked():
    with serve(lambda body: "said") as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        with pytest.raises(ModelRequestError):
            model.batch("msgbatch_none")
        with pytest.raises(ModelRequestError):
            list(model.results("msgbatch_none"))


def test_the_sdk_is_loaded_only_to_ask():
    code = (
        "import sys; from memory_assets.settings import read_settings; from memory_assets.models import open_model;"
        "assert open_model(read_settings()) is None; assert open_model(read_settings(model='claude-haiku-4-5'));"
        "print('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
