"""The real SDK against a local server that answers as the API does, with its errors, overloads and refusals."""

import json
import re
import socket
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_assets.adapters.anthropic_model import AnthropicModel
from memory_assets.errors import (
    ModelBusyError,
    ModelError,
    ModelRequestError,
    ModelSetupError,
    ModelSilentError,
)
from memory_assets.schema.protocols import Image, ModelAnswer, ModelRequest
from memory_assets_tests.messages_api import CREATED, KEY, OVERLOADED, Answer, Fault, Said, serve

SECRET_WORDS = "the transcript says xyzzy"
REQUEST = ModelRequest("You observe.", SECRET_WORDS, 100)
NAME = "claude-haiku-4-5"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")


def ask(
    answer: Answer,
    request: ModelRequest = REQUEST,
    *,
    name: str = NAME,
    retries: int = 0,
    timeout: float = 5.0,
):
    with serve(answer) as api:
        return AnthropicModel(name, url=api.url, timeout_seconds=timeout, retries=retries).ask(
            request
        ), api


def failure(answer: Answer, **how) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(answer, **how)
    all_that_is_logged = "".join(traceback.format_exception(caught.value))
    assert "xyzzy" not in all_that_is_logged
    assert KEY not in all_that_is_logged
    return caught.value


def body_of(**changes) -> bytes:
    """A message as the API sends it, but for the changes."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {
        "model": NAME,
        "content": [{"type": "text", "text": "said"}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    return json.dumps({**whole, **changes}).encode()


JSON = {"content-type": "application/json"}
HTML = Fault(200, raw=b"<html>gateway</html>", headers={"content-type": "text/html"})


def test_an_answer_comes_with_what_it_took():
    answer, _ = ask(lambda body: "said")
    assert (answer.text, answer.model, answer.stop_reason) == (
        "said",
        f"{NAME}-20251001",
        "end_turn",
    )
    assert (answer.input_tokens, answer.output_tokens) == (len(SECRET_WORDS) // 4, 1)
    assert (answer.cache_write_tokens, answer.cache_read_tokens, answer.is_batch) == (
        len("You observe.") // 4,
        0,
        False,
    )
    assert answer.seconds > 0
    assert answer.raw["id"] == "msg_00000001"


@pytest.mark.parametrize(
    ("name", "tokens", "is_cached"),
    [
        ("claude-sonnet-4-5", 1_100, True),
        ("claude-sonnet-4-5", 900, False),
        ("claude-opus-5-5", 4_000, False),
        ("claude-opus-5-5", 4_100, True),
        ("claude-haiku-4-5", 1_100, False),
        ("claude-haiku-4-5", 4_100, True),
    ],
)
def test_the_fixed_part_is_marked_for_the_cache_where_the_models_minimum_is_reached(
    name: str, tokens: int, is_cached: bool
):
    _, api = ask(lambda body: "said", replace(REQUEST, system="word" * tokens), name=name)
    (body,) = api.questions()
    assert ("cache_control" in body["system"][0]) == is_cached


@pytest.mark.parametrize(("name", "temperature"), [(NAME, 0), ("claude-opus-5-5", None)])
def test_the_likeliest_words_are_asked_for_where_a_model_takes_a_temperature(
    name: str, temperature: int | None
):
    with serve(lambda body: "said") as api:
        model = AnthropicModel(name, url=api.url, retries=0)
        model.ask(REQUEST)
        model.submit({"a": REQUEST})
        assert [body.get("temperature") for body in api.questions()] == [temperature, temperature]


def test_pictures_come_before_the_text_each_with_its_number():
    _, api = ask(
        lambda body: "seen",
        ModelRequest("s", "text", 10, (Image("image/png", b"png"), Image("image/jpeg", b"jpg"))),
    )
    (body,) = api.questions()
    label, first, _, second, last = body["messages"][0]["content"]
    assert label["text"] == "Image 1:"
    assert first["source"] == {"type": "base64", "media_type": "image/png", "data": "cG5n"}
    assert second["source"]["media_type"] == "image/jpeg"
    assert last["text"] == "text"


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
        (
            Fault(400, "invalid_request_error", "Your credit balance is too low"),
            ModelSetupError,
            "credit",
        ),
        (
            Fault(400, "invalid_request_error", "messages: xyzzy"),
            ModelRequestError,
            "400 invalid_request_error",
        ),
        (Fault(413, "request_too_large"), ModelRequestError, "413 request_too_large"),
        (OVERLOADED, ModelBusyError, "529 overloaded_error"),
        (Fault(500, "api_error"), ModelBusyError, "500 api_error"),
        (Fault(413, raw=b"<h1>xyzzy is too large</h1>"), ModelRequestError, "413"),
        (Fault(422, "xyzzy said the gateway"), ModelRequestError, "422"),
        (
            Fault(307, headers={"location": "http://127.0.0.1:1/v1/messages"}),
            ModelSetupError,
            "another address",
        ),
        (HTML, ModelError, "is not JSON"),
        (Fault(200, raw=b"", headers=JSON), ModelError, "MEMORY_MODEL_URL"),
        (Fault(200, raw=b"[]", headers=JSON), ModelError, "MEMORY_MODEL_URL"),
        (Fault(200, raw=b'{"content":[]}', headers=JSON), ModelError, "has no 'usage'"),
        (Fault(200, raw=body_of(usage=None), headers=JSON), ModelError, "is not a message"),
        (Fault(200, raw=body_of(content="xyzzy"), headers=JSON), ModelError, "is not a message"),
        (Fault(is_dropped=True), ModelBusyError, "Cannot reach"),
    ],
)
def test_each_failure_ends_as_good_sense_suggests(fault: Fault, kind: type[ModelError], says: str):
    error = failure(lambda body: fault)
    assert type(error) is kind
    assert says in str(error)


NOW = {"date": "Tue, 01 Sep 2026 12:00:00 GMT"}
RESETS = {
    "anthropic-ratelimit-requests-remaining": "7",
    "anthropic-ratelimit-requests-reset": "2026-09-01T12:05:00Z",
    "anthropic-ratelimit-input-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-reset": "2026-09-01T12:00:20Z",
}


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry-after": "17"}, 17),
        (529, {"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        (503, {"retry-after": "Tue, 01 Sep 2026 12:00:30 GMT"}, 30),
        (429, {"retry-after": "soon", **RESETS}, 20),
        (429, {"anthropic-ratelimit-tokens-reset": "2026-09-01T11:59:00Z"}, 0),
        (529, RESETS, None),
        (429, {"retry-after": "nan"}, None),
    ],
)
def test_the_servers_wish_to_be_left_alone_is_handed_on(
    status: int, headers: dict[str, str], seconds: float | None
):
    error = failure(lambda body: Fault(status, "rate_limit_error", headers={**NOW, **headers}))
    assert isinstance(error, ModelBusyError)
    assert error.retry_after_seconds == seconds
    assert ("asks to wait" in str(error)) == bool(seconds)


@pytest.mark.parametrize("late", [Said("late", seconds=2.0), Said("late", pause=2.0)])
def test_a_server_that_is_silent_is_given_up_and_one_that_writes_for_long_is_not(late: Said):
    error = failure(lambda body: late, timeout=0.5)
    assert isinstance(error, ModelSilentError)
    assert "within 0.5 s" in str(error)
    answer, _ = ask(lambda body: Said("a long answer", pause=0.15), timeout=0.5)
    assert (answer.text, answer.seconds > 0.5) == ("a long answer", True)


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ('{"type": "error", "error": {"type": "overloaded_error"}}', ModelBusyError),
        ('{"type": "message_start", "message": {"usage": {}, "stop_reason": null}}', ModelError),
        ('{"type": "message_delta", "delta": {}}', ModelError),
        ("<html>", ModelError),
        ("[]", ModelError),
    ],
)
def test_a_stream_that_is_no_whole_message_is_no_answer(events: str, kind: type[ModelError]):
    headers = {"content-type": "text/event-stream"}
    error = failure(lambda body: Fault(200, raw=f"data: {events}\n\n".encode(), headers=headers))
    assert type(error) is kind


def test_a_server_that_does_not_stream_answers_whole():
    answer, _ = ask(lambda body: Fault(200, raw=body_of(), headers=JSON))
    assert answer.text == "said"


@pytest.mark.parametrize(
    ("errno", "url", "kind", "says"),
    [
        (
            socket.EAI_NONAME,
            "http://user:hidden@gateway.invalid/v1",
            ModelSetupError,
            "no host gateway.invalid. Check MEMORY_",
        ),
        (socket.EAI_AGAIN, "http://gateway.invalid", ModelBusyError, "Check the network."),
        (socket.EAI_NONAME, "", ModelBusyError, "Check the network."),
    ],
    ids=["wrong", "offline", "vendor"],
)
def test_an_unknown_host_is_a_wrong_setting(
    errno: int, url: str, kind: type, says: str, monkeypatch: pytest.MonkeyPatch
):
    def unknown(*args: object, **more: object) -> None:
        raise socket.gaierror(errno, "as name servers say it")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        AnthropicModel(NAME, url=url, retries=0).ask(REQUEST)
    assert type(caught.value) is kind


def test_user_and_password_of_an_address_stand_in_no_message():
    with pytest.raises(
        ModelBusyError, match=re.escape("Cannot reach http://127.0.0.1:9/gate to ask")
    ):
        AnthropicModel(NAME, url="http://user:hidden@127.0.0.1:9/gate?key=hidden", retries=0).ask(
            REQUEST
        )


@pytest.mark.parametrize("key", ["sk-ant-…", "sk-ant-1 ", "sk-ant\n-1"])
def test_a_key_that_no_header_can_carry_is_told_before_anything_is_sent(
    key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with serve(lambda body: "said") as api:
        with pytest.raises(
            ModelSetupError, match="ANTHROPIC_API_KEY contains invalid characters"
        ) as caught:
            AnthropicModel(NAME, url=api.url, retries=0).ask(REQUEST)
        assert api.requests == []
    assert key not in "".join(traceback.format_exception(caught.value))


def test_without_a_key_nothing_is_sent_to_the_vendor(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelSetupError, match="ANTHROPIC_API_KEY"):
        AnthropicModel(NAME, retries=0, timeout_seconds=0.5).ask(REQUEST)


def test_a_batch_goes_from_handing_in_to_results():
    with serve(
        lambda body: body["messages"][0]["content"][0]["text"].upper(), polls_needed=1
    ) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        batch = model.submit({"a": ModelRequest("s", "one"), "b": ModelRequest("s", "two")})
        assert (batch.is_ended, batch.counts["processing"]) == (False, 2)
        assert not model.batch(batch.id).is_ended
        assert model.batch(batch.id).is_ended
        answers = {
            name: answer
            for name, answer in model.results(batch.id)
            if isinstance(answer, ModelAnswer)
        }
        assert {name: answer.text for name, answer in answers.items()} == {"a": "ONE", "b": "TWO"}
        assert all(answer.is_batch for answer in answers.values())


ENTRIES = {
    "expired": (Fault(kind="expired"), ModelBusyError),
    "canceled": (Fault(kind="canceled"), ModelBusyError),
    "bad": (Fault(kind="invalid_request_error"), ModelRequestError),
    "poor": (
        Fault(kind="invalid_request_error", message="Your credit balance is too low"),
        ModelSetupError,
    ),
    "locked": (Fault(kind="authentication_error"), ModelSetupError),
    "nobody": (Fault(kind="not_found_error"), ModelSetupError),
    "busy": (OVERLOADED, ModelBusyError),
    "odd": (Fault(raw=b'{"content": "xyzzy"}'), ModelError),
    "said": ("said", ModelAnswer),
}


def test_results_that_are_no_answers_are_errors_of_their_kind():
    with serve(
        lambda body: ENTRIES[body["messages"][0]["content"][0]["text"]][0], polls_needed=0
    ) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        batch = model.submit({name: ModelRequest("s", name) for name in ENTRIES})
        results = dict(model.results(batch.id))
        assert {name: type(result) for name, result in results.items()} == {
            name: kind for name, (_, kind) in ENTRIES.items()
        }
        assert model.batch(batch.id).counts == {
            "processing": 0,
            "succeeded": 2,
            "errored": 5,
            "canceled": 1,
            "expired": 1,
        }
    assert "xyzzy" not in str(results["odd"])


BATCH_CALLS = {
    "create": lambda model, batch: model.submit({"a": REQUEST}),
    "retrieve": lambda model, batch: model.batch(batch.id),
    "list": lambda model, batch: list(model.batches(CREATED)),
    "results": lambda model, batch: list(model.results(batch.id)),
}


@pytest.mark.parametrize("call", BATCH_CALLS.values(), ids=BATCH_CALLS)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (HTML, ModelError),
        (Fault(200, raw=b"{torn", headers=JSON), ModelError),
        (Fault(200, raw=b'{"data": [{"id": 1}]}', headers=JSON), ModelError),
        (Fault(is_dropped=True), ModelBusyError),
        (OVERLOADED, ModelBusyError),
        (Fault(401, "authentication_error", "invalid x-api-key xyzzy"), ModelSetupError),
        (Fault(302, headers={"location": "http://127.0.0.1:1/"}), ModelSetupError),
    ],
    ids=["html", "torn", "odd", "dropped", "overloaded", "locked", "moved"],
)
def test_each_call_about_batches_fails_as_good_sense_suggests(
    call: Callable, fault: Fault, kind: type[ModelError]
):
    with serve(lambda body: "said", polls_needed=0) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        batch = model.submit({"a": REQUEST})
        api.fault = lambda method, path: fault
        with pytest.raises(ModelError) as caught:
            call(model, batch)
    assert type(caught.value) is kind
    assert "xyzzy" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("call", ["create", "list"])
def test_a_server_without_batches_says_which_setting_does_without(call: str):
    with serve(
        lambda body: "said", fault=lambda method, path: Fault(404, "not_found_error")
    ) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        with pytest.raises(ModelSetupError, match="MEMORY_MODEL_BATCHES=never"):
            BATCH_CALLS[call](model, None)


def test_a_list_of_several_pages_is_read_to_its_end():
    with serve(lambda body: "said", page_size=2) as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        ids = [model.submit({"a": REQUEST}).id for _ in range(5)]
        assert [batch.id for batch in model.batches(CREATED)] == ids[::-1]


def test_batches_are_listed_the_latest_first_back_to_a_moment():
    with serve(lambda body: "said") as api:
        model = AnthropicModel(NAME, url=api.url, retries=0)
        ids = [model.submit({"a": REQUEST}).id for _ in range(3)]
        found = model.batches(CREATED + timedelta(minutes=2))
        assert [batch.id for batch in found] == [ids[2], ids[1]]
